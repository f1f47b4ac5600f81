import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiLimited, ApiProblems, ApiSchemas } from '../../http/openapi/decorators.js';
import { CompletedStatusDto, InProgressStatusDto, InQueueStatusDto, statusDtos } from '../dto/status.dto.js';
import { completedExample, failedExample, inProgressExample, inQueueExample } from './examples.js';
import { ApiRequestId, keyWelcome, type RouteDecorator } from './parameters.js';

export const statusSchema = { $ref: '#/components/schemas/Status' };

const status = {
  description: 'The status of a request; `status` tells which of the three it is.',
  oneOf: statusDtos.map((dto) => ({ $ref: getSchemaPath(dto) })),
  discriminator: {
    propertyName: 'status',
    mapping: {
      IN_QUEUE: getSchemaPath(InQueueStatusDto),
      IN_PROGRESS: getSchemaPath(InProgressStatusDto),
      COMPLETED: getSchemaPath(CompletedStatusDto),
    },
  },
};

export const ApiStatus = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiExtraModels(...statusDtos),
    ApiSchemas({ Status: status }),
    ApiOperation({
      operationId: 'status',
      summary: 'Read the status of a request',
      description: 'Cheap enough to be polled several times a second; the stream tells sooner.',
      security: keyWelcome,
    }),
    ApiRequestId(),
    ApiOkResponse({
      description: 'The status, in all three states.',
      content: {
        'application/json': {
          schema: statusSchema,
          examples: {
            in_queue: { summary: 'Waiting', value: inQueueExample },
            in_progress: { summary: 'Running, with logs=1', value: inProgressExample },
            completed: { summary: 'Done', value: completedExample },
            failed: { summary: 'Done, without success', value: failedExample },
          },
        },
      },
    }),
    ApiProblems('invalid_query', 'missing_key', 'invalid_key', 'forbidden', 'unknown_request', 'gone'),
    ApiLimited(),
  );
