import { applyDecorators } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiLimited, ApiModelAnswers, ApiProblems } from '../../http/openapi/decorators.js';
import { ResponseWithLogsDto } from '../dto/response-with-logs.dto.js';
import { completedExample, inProgressExample, outputExample } from './examples.js';
import { ApiRequestId, keyWelcome, type RouteDecorator } from './parameters.js';

export const ApiFetchResponse = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiExtraModels(ResponseWithLogsDto),
    ApiOperation({
      operationId: 'response',
      summary: 'Fetch the response of a completed request',
      description:
        'The model’s output as it is. A request that ended without success answers with the error it ended with: ' +
        'the model’s own 4xx as `model_error`, or one of the codes below.',
      security: keyWelcome,
    }),
    ApiRequestId(),
    ApiOkResponse({
      description: 'The output; with `logs=1` wrapped.',
      content: {
        'application/json': {
          schema: {
            anyOf: [{ $ref: getSchemaPath(ResponseWithLogsDto) }, { $ref: '#/components/schemas/JsonValue' }],
          },
          examples: {
            output: { summary: 'The output of demo/image/fractal', value: outputExample },
            with_logs: {
              summary: 'With logs=1',
              value: {
                request_id: completedExample.request_id,
                status: 'COMPLETED',
                response: outputExample,
                logs: inProgressExample.logs,
                metrics: completedExample.metrics,
              },
            },
          },
        },
      },
    }),
    ApiProblems(
      'invalid_query',
      'not_completed',
      'missing_key',
      'invalid_key',
      'forbidden',
      'unknown_request',
      'gone',
      'cancelled',
      'model_error',
      'model_unavailable',
      'node_lost',
      'timed_out',
      'expired',
    ),
    ApiModelAnswers(),
    ApiLimited(),
  );
