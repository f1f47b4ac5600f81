import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiLimited, ApiProblems } from '../../http/openapi/decorators.js';
import { CancelResponseDto } from '../dto/cancel-response.dto.js';
import { ApiRequestId, keyWelcome, type RouteDecorator } from './parameters.js';

export const ApiCancel = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiOperation({
      operationId: 'cancel',
      summary: 'Cancel a request',
      description:
        'May be repeated: a request that was cancelled answers 200 again. A body, if any, is ignored. One that ' +
        'completed otherwise answers 400 `already_completed`: there `status` is the HTTP status, as in every problem ' +
        '(RFC 9457), and `cancel_status` has the word `ALREADY_COMPLETED`.',
      security: keyWelcome,
    }),
    ApiRequestId(),
    ApiOkResponse({
      description: 'The request is cancelled: it will never start, or was cancelled before.',
      type: CancelResponseDto,
    }),
    ApiAcceptedResponse({
      description: 'The request is running and was told to stop; what it does then decides the outcome.',
      content: {
        'application/json': {
          schema: { $ref: getSchemaPath(CancelResponseDto) },
          example: { status: 'CANCELLATION_REQUESTED' },
        },
      },
    }),
    ApiProblems('already_completed', 'missing_key', 'invalid_key', 'forbidden', 'unknown_request', 'gone'),
    ApiLimited(),
  );
