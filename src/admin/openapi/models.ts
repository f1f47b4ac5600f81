import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiHeader, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { AdminModelDto, AdminModelListDto, ModelChangeDto, ModelsReloadDto } from '../dto/models.dto.js';
import { ApiReason, reasonProblems } from './reason.js';

const ApiModelId = (): MethodDecorator =>
  ApiParam({
    name: 'model_id',
    description: 'The id of the model; its slashes may be encoded as `%2F`.',
    schema: { type: 'string', maxLength: 256, example: 'demo/image/fractal' },
  });

const etag = {
  description: 'The version of what operators have set, for `If-Match`.',
  schema: { type: 'string', example: '"q1w2e3r4t5y6u7i8o9p0a1"' } as const,
};

export const ApiAdminModels = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List all models',
      description:
        'What the models file says, what operators have set beside it, and how much they have to do.',
    }),
    ApiOkResponse({ description: 'The models.', type: AdminModelListDto }),
    ApiProblems('bad_request'),
  );

export const ApiAdminModel = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'Read one model as operators see it', description: 'As in the list.' }),
    ApiModelId(),
    ApiOkResponse({ description: 'The model.', type: AdminModelDto, headers: { ETag: etag } }),
    ApiProblems('bad_request', 'unknown_model'),
  );

export const ApiChangeModel = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Pause a model, resume it, change its concurrency',
      description:
        'Beside the models file, for all nodes, until it is changed again: a restart changes nothing. When this has ' +
        'answered, nothing of a paused model starts any more, and what runs goes on to its end. Where the concurrency ' +
        'is lower, nothing starts until fewer run.',
    }),
    ApiModelId(),
    ApiHeader({
      name: 'If-Match',
      description: 'An `ETag`: changes nothing, and answers 412, if somebody has changed the model since.',
      required: false,
      schema: { type: 'string', example: etag.schema.example },
    }),
    ApiBody({
      type: ModelChangeDto,
      required: true,
      examples: {
        pause: { value: { paused: 'hold', reason: 'new weights' } },
        resume: { value: { paused: false } },
        concurrency: { value: { concurrency: 2 } },
        reset: { value: { concurrency: null } },
      },
    }),
    ApiOkResponse({ description: 'The model as it is now.', type: AdminModelDto, headers: { ETag: etag } }),
    ApiProblems(
      'bad_request',
      'invalid_query',
      'invalid_json',
      'invalid_input',
      'body_too_large',
      'unsupported_encoding',
      'unknown_model',
      'changed_meanwhile',
    ),
  );

export const ApiReloadModels = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read the models file again',
      description:
        'All or nothing: with a fault the models stay as they were, and `errors` names each. Other nodes read theirs ' +
        'again too. Runs that are going on end by the options that they began with.',
    }),
    ApiReason(),
    ApiOkResponse({ description: 'What has changed.', type: ModelsReloadDto }),
    ApiProblems(...reasonProblems, 'invalid_models_file'),
  );
