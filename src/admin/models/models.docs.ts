import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { AdminModelDto, AdminModelListDto, exampleVersion, ModelsReloadDto } from './models.dto.js';

const ApiModelId = ApiParam({
  name: 'model_id',
  description: 'The id of the model; its slashes may be encoded as `%2F`.',
  schema: { type: 'string', maxLength: 256, example: 'demo/image/fractal' },
});

const etag = {
  description: 'The version of the operators’ overrides, for `If-Match`.',
  schema: { type: 'string', example: exampleVersion } as const,
};

export const ApiAdminModels = ApiCall(
  'List all models',
  'Each model has its values from the models file, the overrides of operators, and its load.',
  ApiOkResponse({ description: 'The models.', type: AdminModelListDto }),
  ApiProblems('bad_request'),
);

export const ApiAdminModel = ApiCall(
  'Read one model as operators see it',
  'The model has the same form as in the list.',
  ApiModelId,
  ApiOkResponse({ description: 'The model.', type: AdminModelDto, headers: { ETag: etag } }),
  ApiProblems('bad_request', 'unknown_model'),
);

export const ApiChangeModel = ApiCall(
  'Pause a model, resume it, or change its concurrency',
  'The override applies to all nodes until it is changed again; it survives a restart. After the answer no ' +
    'run of a paused model starts, and running ones finish. If the concurrency is lowered, no run starts ' +
    'until fewer are running.',
  ApiModelId,
  ApiOkResponse({ description: 'The changed model.', type: AdminModelDto, headers: { ETag: etag } }),
  ApiProblems('unknown_model', 'changed_meanwhile'),
);

export const ApiProbeModel = ApiCall(
  'Probe a model now',
  'Every node probes the addresses of the model that it does not reach, without waiting for the next probe. ' +
    'The answer has the model as it is before the probes; if all addresses are reachable, nothing is probed.',
  ApiModelId,
  ApiOkResponse({ description: 'The model.', type: AdminModelDto }),
  ApiProblems('unknown_model'),
);

export const ApiReloadModels = ApiCall(
  'Read the models file again',
  'All or nothing: if the file has a fault, the models stay as they were, and `errors` lists each fault. ' +
    'Other nodes read their files again too. Current runs finish with the options that they began with.',
  ApiOkResponse({ description: 'The changes.', type: ModelsReloadDto }),
  ApiProblems('invalid_models_file'),
);
