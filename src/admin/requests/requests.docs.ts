import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiParam,
  ApiProduces,
  ApiResponse,
} from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList, ApiPage } from '../../http/openapi/page.dto.js';
import * as dto from './requests.dto.js';

const ApiAnyCall = (summary: string, description: string, ...problems: ProblemCode[]): MethodDecorator =>
  ApiCall(
    summary,
    description,
    ApiParam({
      name: 'request_id',
      description: 'The id or the handle of a request.',
      schema: { type: 'string' },
    }),
    ApiProblems('unknown_request', ...problems),
  );

export const ApiAnyList = ApiList(
  'List the requests of all keys',
  'Newest first; needs the scope `observe`. A page that has read 12,000 requests ends there and may be ' +
    'short or empty; continue until `next_cursor` is null. With `Cache-Control: max-age=2` the first page ' +
    'may be 2 s old.',
  dto.AnyRequestPageDto,
);

export const ApiAnyRequest = applyDecorators(
  ApiAnyCall('Read one request of any key', 'The status, the key, and the node of the request.'),
  ApiOkResponse({ description: 'The request.', type: dto.AnyRequestDetailsDto }),
);

export const ApiAnyStatus = applyDecorators(
  ApiAnyCall('Read the status of a request of any key', 'The same as `GET /v1/admin/requests/{request_id}`.'),
  ApiOkResponse({ description: 'The request.', type: dto.AnyRequestDetailsDto }),
);

export const ApiLife = applyDecorators(
  ApiAnyCall(
    'Read what happened to a request',
    'The events of the request over all attempts and nodes, and how it moved up in the queue.',
  ),
  ApiOkResponse({ description: 'The events.', type: dto.LifeDto }),
);

export const ApiAnyStream = applyDecorators(
  ApiAnyCall(
    'Follow a request of any key',
    'Like the caller’s status stream, with the objects of `/v1/admin/requests`. The log is included only ' +
      'with the scope `payloads`; reading it is audited.',
    'invalid_query',
    'gone',
  ),
  ApiProduces('text/event-stream'),
  ApiOkResponse({
    description: 'One event per change.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  }),
  ApiNoContentResponse({ description: 'The request has completed, and all events were sent.' }),
);

export const ApiAnyOutputStream = applyDecorators(
  ApiAnyCall(
    'Follow the output of a request of any key',
    'Like the caller’s output stream. Needs the scope `payloads`; the read is audited.',
    'invalid_query',
    'gone',
  ),
  ApiProduces('text/event-stream'),
  ApiOkResponse({
    description: 'The events `output`, `reset` and `done`.',
    content: { 'text/event-stream': { schema: { type: 'string' } } },
  }),
  ApiNoContentResponse({ description: 'The request has completed, and all events were sent.' }),
);

export const ApiAnyLog = applyDecorators(
  ApiAnyCall(
    'Read the log of a request',
    'Needs the scope `payloads`; the read is audited.',
    'invalid_query',
  ),
  ApiPage(dto.AnyLogPageDto),
);

export const ApiAnyPayload = (part: 'input' | 'output'): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      part === 'input' ? 'Read the input of a request' : 'Read the output of a request',
      'The JSON as it was sent, or a `Range` of its bytes. Needs the scope `payloads`; the read is audited.',
      'gone',
      'bad_request',
    ),
    ApiOkResponse({
      description: 'The whole payload.',
      content: { 'application/json': { schema: dto.jsonValue } },
    }),
    ApiResponse({
      status: 206,
      description: 'The requested bytes.',
      content: { 'application/json': { schema: { type: 'string' } } },
    }),
  );

export const ApiPicture = applyDecorators(
  ApiAnyCall(
    'Read the picture in an output',
    'Returns the first `data:` URL of a PNG, JPEG, GIF or WebP as a picture. If there is none, redirects to ' +
      'the first file of such a content type in the output. Needs the scope `payloads`; the read is audited.',
    'gone',
  ),
  ApiProduces('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
  ApiOkResponse({
    description: 'The picture.',
    content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
  }),
  ApiResponse({ status: 307, description: 'The picture is a file, at `Location`.' }),
);

export const ApiAnyCancel = applyDecorators(
  ApiAnyCall(
    'Cancel a request of any key',
    'If the request is running, it is asked to stop.',
    'already_completed',
  ),
  ApiOkResponse({ description: 'The request after the call.', type: dto.AnyRequestDetailsDto }),
);

export const ApiAnyRetry = applyDecorators(
  ApiAnyCall(
    'Submit a completed request of any key again',
    'The new request belongs to the same key, under the current rights and limits of that key.',
    'not_completed',
    'gone',
    'unknown_model',
    'queue_full',
    'model_paused',
  ),
  ApiAcceptedResponse({ description: 'The new request.', type: dto.AnyRequestDetailsDto }),
);

export const ApiAnyErase = applyDecorators(
  ApiAnyCall(
    'Erase a completed request of any key',
    'The same as an erasure by the key of the request.',
    'not_completed',
    'gone',
  ),
  ApiNoContentResponse({ description: 'The request is erased.' }),
);
