import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { KeyDto } from '../dto/key.dto.js';
import { ModelDto, ModelListDto } from '../dto/models.dto.js';

const ApiModelId = (): MethodDecorator =>
  ApiParam({
    name: 'model_id',
    description: 'The id of the model; its slashes may be encoded as `%2F`.',
    schema: { type: 'string', maxLength: 256, example: 'demo/image/fractal' },
  });

export const ApiModels = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the models that the key may call',
      description:
        'What they take, how much they have to do, and how long that usually takes. Needs a key: which models there ' +
        'are is not for everybody.',
    }),
    ApiOkResponse({ description: 'The models.', type: ModelListDto }),
    ApiProblems('bad_request'),
  );

export const ApiModel = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read one model',
      description: 'As in the list. `waiting`, `running` and `load` are for autoscalers and may be polled.',
    }),
    ApiModelId(),
    ApiOkResponse({ description: 'The model.', type: ModelDto }),
    ApiProblems('bad_request', 'unknown_model'),
  );

export const ApiModelDocument = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Describe one model as OpenAPI',
      description:
        'A document of this model alone: its input schema is the body of the submission, so that a client which is ' +
        'generated from it is typed.',
    }),
    ApiModelId(),
    ApiOkResponse({
      description: 'An OpenAPI 3.1 document.',
      content: {
        'application/json': {
          schema: { type: 'object', additionalProperties: true },
          example: { openapi: '3.1.0', info: { title: 'demo/image/fractal', version: '0.1.0' }, paths: {} },
        },
      },
    }),
    ApiProblems('bad_request', 'unknown_model'),
  );

export const ApiKey = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read what the key may do',
      description:
        'Scopes, models, limits with what is left of them, what it holds, its webhook secret. Any valid key may ask; it counts as a call that is no ' +
        'submission.',
    }),
    ApiOkResponse({ description: 'The key of the call.', type: KeyDto }),
    ApiProblems('bad_request'),
  );
