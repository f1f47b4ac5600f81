import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { KeyDto } from '../dto/key.dto.js';
import { ModelDto, ModelListDto } from '../dto/models.dto.js';

const ApiModelId = ApiParam({
  name: 'model_id',
  description: 'The id of the model; its slashes may be encoded as `%2F`.',
  schema: { type: 'string', maxLength: 256, example: 'demo/image/fractal' },
});

export const ApiModels = ApiCall(
  'List the models that the key may call',
  'The inputs, the load and the typical times of the models. A key is needed, because the list of models ' +
    'is not public.',
  ApiOkResponse({ description: 'The models.', type: ModelListDto }),
  ApiProblems('bad_request'),
);

export const ApiModel = ApiCall(
  'Read one model',
  'The model has the same form as in the list. Autoscalers may poll `waiting`, `running` and `load`.',
  ApiModelId,
  ApiOkResponse({ description: 'The model.', type: ModelDto }),
  ApiProblems('bad_request', 'unknown_model'),
);

export const ApiModelDocument = ApiCall(
  'Describe one model as OpenAPI',
  'The document describes only this model. Its input schema is the body of the submission, so a client ' +
    'generated from the document is typed.',
  ApiModelId,
  ApiOkResponse({
    description: 'An OpenAPI 3.1 document.',
    content: {
      'application/json': {
        schema: { type: 'object', additionalProperties: true },
        example: { openapi: '3.1.0', info: { title: 'demo/image/fractal', version: '1.0.0' }, paths: {} },
      },
    },
  }),
  ApiProblems('bad_request', 'unknown_model'),
);

export const ApiKey = ApiCall(
  'Read the rights and limits of the key',
  'The scopes, models, limits and their remaining quota, held resources and webhook secret of the key. Any ' +
    'valid key may make this call. It counts as a call that submits nothing.',
  ApiOkResponse({ description: 'The key of the call.', type: KeyDto }),
  ApiProblems('bad_request'),
);
