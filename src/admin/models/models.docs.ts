import { applyDecorators } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { AdminModelDto, AdminModelListDto, exampleVersion, ModelsReloadDto } from './models.dto.js';

const ApiModelId = (): MethodDecorator =>
  ApiParam({
    name: 'model_id',
    description: 'The id of the model; its slashes may be encoded as `%2F`.',
    schema: { type: 'string', maxLength: 256, example: 'demo/image/fractal' },
  });

const etag = {
  description: 'The version of the operators’ overrides, for `If-Match`.',
  schema: { type: 'string', example: exampleVersion } as const,
};

export const ApiAdminModels = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List all models',
      description:
        'Each model has its values from the models file, the overrides of operators, and its load.',
    }),
    ApiOkResponse({ description: 'The models.', type: AdminModelListDto }),
    ApiProblems('bad_request'),
  );

export const ApiAdminModel = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read one model as operators see it',
      description: 'The model has the same form as in the list.',
    }),
    ApiModelId(),
    ApiOkResponse({ description: 'The model.', type: AdminModelDto, headers: { ETag: etag } }),
    ApiProblems('bad_request', 'unknown_model'),
  );

export const ApiChangeModel = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Pause a model, resume it, or change its concurrency',
      description:
        'The override applies to all nodes until it is changed again; it survives a restart. After the answer no ' +
        'run of a paused model starts, and running ones finish. If the concurrency is lowered, no run starts ' +
        'until fewer are running.',
    }),
    ApiModelId(),
    ApiOkResponse({ description: 'The changed model.', type: AdminModelDto, headers: { ETag: etag } }),
    ApiProblems('unknown_model', 'changed_meanwhile'),
  );

export const ApiReloadModels = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read the models file again',
      description:
        'All or nothing: if the file has a fault, the models stay as they were, and `errors` lists each fault. ' +
        'Other nodes read their files again too. Current runs finish with the options that they began with.',
    }),
    ApiOkResponse({ description: 'The changes.', type: ModelsReloadDto }),
    ApiProblems('invalid_models_file'),
  );
