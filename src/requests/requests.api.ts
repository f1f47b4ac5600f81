import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiExtraModels,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiQuery,
  ApiTags,
  getSchemaPath,
} from '@nestjs/swagger';
import { ApiLimited, ApiModelAnswers, ApiProblems, ApiSchemas } from '../http/openapi.js';
import { CancelResponseDto } from './dto/cancel-response.dto.js';
import { QueuedRequestDto } from './dto/queued-request.dto.js';
import { ResponseWithLogsDto } from './dto/response-with-logs.dto.js';
import { CompletedStatusDto, InProgressStatusDto, InQueueStatusDto, statusDtos } from './dto/status.dto.js';
import {
  completedExample,
  failedExample,
  inProgressExample,
  inQueueExample,
  outputExample,
} from './examples.js';

type RouteDecorator = ReturnType<typeof applyDecorators>;

const keyNeeded: Record<string, string[]>[] = [{ key: [] }, { bearer: [] }];
/** Either no key or a valid one that owns the request. */
export const keyWelcome = [{}, ...keyNeeded];

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

export const ApiRequestId = (): RouteDecorator =>
  applyDecorators(
    ApiParam({
      name: 'requestId',
      description: 'The `request_id` that the submission was answered with.',
      schema: { type: 'string', example: '019aa1b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b' },
    }),
  );

export const ApiLogsQuery = (description: string): RouteDecorator =>
  applyDecorators(
    ApiQuery({
      name: 'logs',
      required: false,
      description,
      schema: { type: 'string', enum: ['0', '1', 'false', 'true'], default: '0' },
    }),
  );

export const ApiSubmit = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiOperation({
      operationId: 'submit',
      summary: 'Add a request to the queue',
      description:
        'Answers as soon as the request is on disk. The body is read as JSON whatever its content type says; gzip, ' +
        'deflate and br are decoded.\n\n' +
        'The model id is part of the path, slashes and all: `POST /v1/queue/demo/image/fractal`. A client that ' +
        'encodes them as `%2F` asks for another model; OpenAPI 3.1 has no way to say so.',
      security: keyNeeded,
    }),
    ApiParam({
      name: 'path',
      description:
        '1 to 8 segments joined by `/`, which must not be percent-encoded; each is a letter or digit, then up to 63 ' +
        'letters, digits, dots, underscores or hyphens. The first is never `requests`.',
      schema: {
        type: 'string',
        maxLength: 256,
        pattern: '^(?!requests(/|$))[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}$',
        example: 'demo/image/fractal',
      },
    }),
    ApiBody({
      description: 'The input of the model: a JSON object that fits its schema.',
      required: true,
      schema: { type: 'object', additionalProperties: true },
      examples: {
        fractal: {
          summary: 'A picture from demo/image/fractal',
          value: { prompt: 'a spiral of light', width: 512, height: 512 },
        },
        echo: { summary: 'Anything to demo/text/echo', value: { prompt: 'hello' } },
      },
    }),
    ApiAcceptedResponse({
      description: 'The request is in the queue.',
      type: QueuedRequestDto,
      headers: { Location: { $ref: '#/components/headers/Location' } as object },
    }),
    ApiProblems(
      'bad_request',
      'invalid_json',
      'missing_key',
      'invalid_key',
      'forbidden',
      'unknown_model',
      'body_too_large',
      'unsupported_encoding',
      'invalid_input',
    ),
    ApiLimited('submit'),
  );

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
    ApiLogsQuery('`1` or `true` adds the log of the request.'),
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
    ApiProblems('invalid_query', 'missing_key', 'invalid_key', 'forbidden', 'unknown_request'),
    ApiLimited(),
  );

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
    ApiLogsQuery('`1` or `true` wraps the output together with the log and the metrics.'),
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

export const ApiCancel = (): RouteDecorator =>
  applyDecorators(
    ApiTags('Requests'),
    ApiOperation({
      operationId: 'cancel',
      summary: 'Cancel a request',
      description:
        'May be repeated: a request that was cancelled answers 200 again. A body, if any, is ignored.',
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
    ApiProblems('already_completed', 'missing_key', 'invalid_key', 'forbidden', 'unknown_request'),
    ApiLimited(),
  );
