import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
} from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiHeaderFields } from '../../http/openapi/parameters.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { QueuedRequestDto } from '../dto/answers.dto.js';
import * as dto from '../dto/collection.dto.js';
import { SubmitHeaders } from '../dto/submit.headers.js';
import * as examples from './examples.js';
import { ApiRequestCall } from './operations.js';

const example = (value: object): Record<string, { value: object }> => ({ example: { value } });

export const ApiList = ApiCall(
  'List the requests of the key',
  'Newest first. The next page is at `next_cursor` and at the `Link` of the answer. A cursor includes the ' +
    'filters and the limit; new requests neither shift nor repeat entries. A page that had to search far may ' +
    'be short; the list ends where `next_cursor` is null. Erased requests are listed without their content.',
  ApiOkResponse({
    description: 'A page.',
    headers: headerReferences(['Link']),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/RequestPage' },
        example: { data: [examples.inQueue, examples.completed], next_cursor: null },
      },
    },
  }),
  ApiExtraModels(dto.RequestPageDto),
  ApiProblems('invalid_query'),
);

const batch = {
  requests: [
    { model_id: 'demo/text/echo', input: { page: 1 }, tag: 'book:7' },
    {
      model_id: 'demo/text/echo',
      input: { page: 2 },
      tag: ['book:7', 'last:yes'],
      idempotency_key: 'book-7-2',
    },
  ],
};

export const ApiSubmitMany = ApiCall(
  'Add up to 1,000 requests to the queue',
  'Each entry is treated as a single submission. The valid entries are committed together; an invalid one ' +
    'does not affect them. Entries have their own limit: 2,000 in a second and 50,000 in a minute, unless ' +
    '`RATE_LIMIT_BATCH` or the key says otherwise (`limits.batch` of `GET /v1/key`). Entries beyond it get `rate_limited`, and `Retry-After` says when to send them again. The ' +
    'call itself counts as one of the calls that submit nothing.',
  ApiBody({ type: dto.BatchDto, required: true, examples: example(batch) }),
  ApiOkResponse({
    description: 'The result of each entry, in the order of the entries.',
    type: dto.BatchResultsDto,
    headers: headerReferences(['Retry-After']),
  }),
  ApiProblems(
    'bad_request',
    'invalid_json',
    'body_too_large',
    'too_large',
    'too_slow',
    'unsupported_encoding',
    'invalid_input',
    'invalid_query',
  ),
);

export const ApiStatuses = ApiCall(
  'Read the statuses of up to 1,000 requests',
  'The statuses in the order of the ids; null stands for a request that is unknown, belongs to another ' +
    'key, or was deleted. 100 ids count as one call. If the limit does not admit all of them, the whole call ' +
    'is refused.',
  ApiOkResponse({
    description: 'The statuses.',
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Statuses' },
        example: { results: [examples.completed, null] },
      },
    },
  }),
  ApiExtraModels(dto.StatusesDto),
);

export const ApiCancelMany = ApiCall(
  'Cancel many requests',
  'Cancels requests by their ids or by the filters of the list. Waiting requests are removed before any of ' +
    'them can start; running ones are asked to stop. A call covers at most 10,000 requests; `more` is true ' +
    'if others still match the filter. 100 ids count as one call, and so does a filter. If the limit does ' +
    'not admit all ids, the whole call is refused.',
  ApiOkResponse({ description: 'The number of requests for each result.', type: dto.CancelCountsDto }),
);

export const ApiRetry = applyDecorators(
  ApiHeaderFields(SubmitHeaders),
  ApiRequestCall(
    'Submit a completed request again',
    'Submits a new request with the same model, input and options, but without a schedule. Its status has ' +
      '`retry_of`, and that of the old request `retried_as`. A body, if any, is ignored. A repetition with the ' +
      'same `Idempotency-Key` gets the request that the first call made.',
    'invalid_query',
    'not_completed',
    'unknown_model',
    'invalid_idempotency_key',
    'idempotency_key_reused',
    'queue_full',
    'model_paused',
  ),
  ApiAcceptedResponse({
    description: 'The new request is in the queue.',
    type: QueuedRequestDto,
    headers: headerReferences(['Location', 'Idempotent-Replayed']),
  }),
);

export const ApiErase = applyDecorators(
  ApiRequestCall(
    'Erase a completed request',
    'Erases the input, output, logs, files and webhook bodies of the request, in one commit. After that its ' +
      'status and its response are 410 `gone`; lists still include the request.',
    'not_completed',
  ),
  ApiNoContentResponse({ description: 'The request is erased.' }),
);
