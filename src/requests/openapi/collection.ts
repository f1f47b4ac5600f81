import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiExtraModels,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { ApiProblems } from '../../http/openapi/operations.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { QueuedRequestDto } from '../dto/answers.dto.js';
import * as dto from '../dto/collection.dto.js';
import * as examples from './examples.js';
import { ApiRequestCall } from './operations.js';

const bodyProblems: ProblemCode[] = [
  'bad_request',
  'invalid_json',
  'body_too_large',
  'too_large',
  'unsupported_encoding',
  'invalid_input',
];

const example = (value: object): Record<string, { value: object }> => ({ example: { value } });

export const ApiList = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the requests of the key',
      description:
        'Newest first. The next page is at `next_cursor`, or at the `Link` of the answer: a cursor holds the filters ' +
        'and the limit, and what arrives meanwhile neither shifts nor repeats anything. A page that looked far for ' +
        'what fits may be short: the list ends where `next_cursor` is null. Erased requests are listed without ' +
        'their content.',
    }),
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

export const ApiSubmitMany = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Add up to 1,000 requests to the queue',
      description:
        'Each entry is what a submission by itself would be, and counts as one against the limits. The good ones are ' +
        'committed together; a bad one harms no other. Where a limit is reached those beyond it get `rate_limited`, ' +
        'and `Retry-After` says when to send them again.',
    }),
    ApiBody({ type: dto.BatchDto, required: true, examples: example(batch) }),
    ApiOkResponse({
      description: 'What became of each, in their order.',
      type: dto.BatchResultsDto,
      headers: headerReferences(['Retry-After']),
    }),
    ApiProblems(...bodyProblems, 'invalid_query'),
  );

export const ApiStatuses = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read the statuses of up to 1,000 requests',
      description: 'In the order of the ids; null stands for those that are unknown, another key’s, or gone.',
    }),
    ApiBody({ type: dto.RequestIdsDto, required: true }),
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
    ApiProblems(...bodyProblems, 'invalid_query'),
  );

export const ApiCancelMany = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Cancel many requests',
      description:
        'By their ids or by the filters of the list. What waits is taken out before any of it can start; what runs ' +
        'is asked to stop. A call deals with 10,000 at most: `more` says that others fit the filter still.',
    }),
    ApiBody({
      type: dto.CancelManyDto,
      required: true,
      examples: {
        by_filter: { value: { filter: { tag: 'book:7' } } },
        by_id: { value: { request_ids: [examples.inQueue.request_id] } },
      },
    }),
    ApiOkResponse({ description: 'What became of them.', type: dto.CancelCountsDto }),
    ApiProblems(...bodyProblems, 'invalid_query'),
  );

export const ApiRetry = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'Submit a completed request again',
      'A new request with the same model, input and options, but for a schedule. Its status has `retry_of`, that of ' +
        'the old one `retried_as`. A body, if any, is ignored. Under an `Idempotency-Key` a repetition is answered with ' +
        'the request that the first call made.',
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

export const ApiErase = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'Erase a completed request',
      'Its input, output, logs, files and webhook bodies, in one commit. From then on its status and its response are ' +
        '410 `gone`; lists still show that there was a request.',
      'not_completed',
    ),
    ApiNoContentResponse({ description: 'It is erased.' }),
  );
