import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiExtension,
  ApiExtraModels,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiParam,
  getSchemaPath,
} from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiHeaderFields, ApiOptions } from '../../http/openapi/parameters.js';
import { headerReferences } from '../../http/openapi/responses.js';
import * as dto from '../dto/answers.dto.js';
import { LogsQuery } from '../dto/logs.query.js';
import { SubmitHeaders } from '../dto/submit.headers.js';
import { SubmitQuery } from '../dto/submit.query.js';
import * as examples from './examples.js';

const statusSchema = { $ref: '#/components/schemas/Status' };

const statusDtos = [dto.InQueueStatusDto, dto.InProgressStatusDto, dto.CompletedStatusDto];
const [IN_QUEUE, IN_PROGRESS, COMPLETED] = statusDtos.map((one) => getSchemaPath(one));
const status = {
  description: 'The status of a request. Its member `status` is one of three states.',
  oneOf: [IN_QUEUE, IN_PROGRESS, COMPLETED].map(($ref) => ({ $ref })),
  discriminator: { propertyName: 'status', mapping: { IN_QUEUE, IN_PROGRESS, COMPLETED } },
};

const outputSchema = {
  anyOf: [{ $ref: getSchemaPath(dto.ResponseWithLogsDto) }, { $ref: '#/components/schemas/JsonValue' }],
};

const json = (schema: object, examples: Record<string, object>) => ({
  content: { 'application/json': { schema, examples } },
});

/** A call that may wait until the request has completed. */
const ApiPrefer = ApiHeader({
  name: 'Prefer',
  description:
    '`wait=n` (RFC 7240): the answer waits until the request has completed, at most `n` seconds, or without a number ' +
    'as long as is allowed. After that ' +
    'time it is the same as without waiting. More than 60 counts as 60, and the wait ends after 55 seconds, ' +
    'before a proxy gives up. Anything else is ignored. An answer ' +
    'that waited, or had no need to, has `Preference-Applied`. It is absent if the wait ended early, for ' +
    'example because the node stops.',
  schema: { type: 'string' },
});

/** A call about one request, with its own errors besides the common ones. */
export function ApiRequestCall(
  summary: string,
  description: string,
  ...problems: ProblemCode[]
): MethodDecorator {
  return ApiCall(
    summary,
    description,
    ApiParam({
      name: 'request_id',
      description: 'The `request_id` from the answer to the submission.',
      schema: { type: 'string', example: examples.inQueue.request_id },
    }),
    ApiProblems('unknown_request', 'gone', ...problems),
  );
}

export const ApiSubmit = ApiCall(
  'Add a request to the queue',
  'Answers as soon as the request is on disk. The body is read as JSON whatever its content type is; gzip, ' +
    'deflate and br are decoded.\n\n' +
    'The model id is part of the path, with its slashes: `POST /v1/queue/demo/image/fractal`. A client may ' +
    'encode them as `%2F`, as generated clients do; the model is the same.',
  ApiOptions(SubmitQuery),
  ApiHeaderFields(SubmitHeaders),
  ApiParam({
    name: 'model_id',
    description:
      '1 to 8 segments joined by `/` or `%2F`. Each is a letter or digit, then up to 63 letters, digits, dots, ' +
      'underscores or hyphens. The first is never `requests`, the last never `openapi.json`.',
    schema: {
      type: 'string',
      maxLength: 256,
      pattern:
        '^(?!requests(/|$))(?!(.*/)?openapi[.]json$)[A-Za-z0-9][A-Za-z0-9._-]{0,63}(/[A-Za-z0-9][A-Za-z0-9._-]{0,63}){0,7}$',
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
        value: examples.input,
      },
      echo: { summary: 'Any object, to demo/text/echo', value: { prompt: 'hello' } },
    },
  }),
  ApiPrefer,
  ApiOkResponse({
    description: 'With `Prefer: wait=n`: the request has completed in the meantime.',
    type: dto.CompletedSubmissionDto,
    headers: headerReferences(['Location', 'Idempotent-Replayed', 'Preference-Applied']),
  }),
  ApiAcceptedResponse({
    description: 'The request is in the queue.',
    type: dto.QueuedRequestDto,
    headers: headerReferences(['Location', 'Idempotent-Replayed', 'Preference-Applied']),
  }),
  ApiProblems(
    'bad_request',
    'invalid_json',
    'unknown_model',
    'body_too_large',
    'too_large',
    'too_slow',
    'unsupported_encoding',
    'invalid_input',
    'invalid_idempotency_key',
    'idempotency_key_reused',
    'invalid_query',
    'queue_full',
    'caller_busy',
    'overloaded',
    'model_paused',
  ),
);

export const ApiStatus = applyDecorators(
  ApiOptions(LogsQuery),
  ApiExtraModels(...statusDtos),
  ApiExtension('x-schemas', { Status: status }),
  ApiRequestCall(
    'Read the status of a request',
    'Cheap enough to poll several times a second. The stream reports changes sooner, and `Prefer: wait=n` ' +
      'makes polling unnecessary.',
    'invalid_query',
  ),
  ApiPrefer,
  ApiOkResponse({
    description:
      'The status, in any of the three states. While it is IN_QUEUE, `Retry-After` says when to ask again.',
    headers: headerReferences(['Preference-Applied', 'Retry-After']),
    ...json(statusSchema, {
      in_queue: { summary: 'Waiting', value: examples.inQueue },
      in_progress: { summary: 'Running, with logs=1', value: examples.inProgress },
      completed: { summary: 'Completed', value: examples.completed },
      failed: { summary: 'Completed without success', value: examples.failed },
    }),
  }),
);

export const ApiFetchResponse = applyDecorators(
  ApiOptions(LogsQuery),
  ApiExtraModels(dto.ResponseWithLogsDto),
  ApiExtension('x-model-answers', true),
  ApiRequestCall(
    'Fetch the response of a completed request',
    'Returns the model’s output unchanged. For a request that ended without success, the answer is its ' +
      'error: the model’s own 4xx as `model_error`, or one of the codes below.',
    'invalid_query',
    'not_completed',
    'cancelled',
    'model_error',
    'model_unavailable',
    'node_lost',
    'worker_lost',
    'timed_out',
    'expired',
  ),
  ApiPrefer,
  ApiOkResponse({
    description: 'The output. With `logs=1` it is wrapped with its log and measurements.',
    headers: headerReferences(['Preference-Applied']),
    ...json(outputSchema, {
      output: { summary: 'The output of demo/image/fractal', value: examples.output },
      with_logs: { summary: 'With logs=1', value: examples.withLogs },
    }),
  }),
);

export const ApiFetchInput = applyDecorators(
  ApiRequestCall(
    'Read the input of a request',
    'Returns the input as it was submitted, in any state of the request. An input that was erased, or that retention ' +
      'has deleted, is 410 `gone`.',
  ),
  ApiOkResponse({
    description: 'The input.',
    ...json(
      { type: 'object', additionalProperties: true },
      { input: { summary: 'An input of demo/image/fractal', value: examples.input } },
    ),
  }),
);

export const ApiCancel = applyDecorators(
  ApiRequestCall(
    'Cancel a request',
    'Idempotent: a request that was cancelled answers 200 again. A body, if any, is ignored. A request that ' +
      'completed otherwise answers 400 `already_completed`. There `status` is the HTTP status, as in every ' +
      'problem (RFC 9457), and `cancel_status` has the word `ALREADY_COMPLETED`.',
    'already_completed',
  ),
  ApiOkResponse({
    description: 'The request is cancelled: it will never start, or was cancelled before.',
    type: dto.CancelResponseDto,
  }),
  ApiAcceptedResponse({
    description: 'The request is running and was asked to stop. Its run decides the outcome.',
    content: {
      'application/json': {
        schema: { $ref: getSchemaPath(dto.CancelResponseDto) },
        example: { status: 'CANCELLATION_REQUESTED' },
      },
    },
  }),
);

const events = [examples.inQueue, examples.inProgress, examples.completed]
  .map((status, index) => `id: ${41 + index}\ndata: ${JSON.stringify(status)}\n\n`)
  .join('');

export const ApiStatusStream = applyDecorators(
  ApiRequestCall(
    'Follow the status of a request until it completes',
    'Server-sent events without a name, for `EventSource` and `curl -N`. The `data` of each event is a ' +
      'status object. The first comes at once; the next when the state, the position or, with `logs=1`, the ' +
      'log changes. With `logs=1` an event has only the log entries that the stream has not sent before. A ' +
      'comment line comes every 15 s. After COMPLETED the server closes the stream; a reconnect then gets 204, ' +
      'which stops an `EventSource`.',
    'invalid_query',
  ),
  ApiOkResponse({
    description: 'The stream.',
    content: {
      'text/event-stream': {
        schema: {
          type: 'string',
          description: 'Events as in the HTML standard; `x-event-data` is the schema of their `data`.',
          'x-event-data': statusSchema,
        } as object,
        example: events,
      },
    },
  }),
  ApiNoContentResponse({
    description: 'The request has completed, and the caller has received that event.',
  }),
);
