import { applyDecorators } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBody,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProduces,
  ApiResponse,
} from '@nestjs/swagger';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { ApiProblems } from '../../http/openapi/operations.js';
import { headerReferences } from '../../http/openapi/responses.js';
import { ApiReason, reasonProblems } from '../openapi/reason.js';
import * as dto from './dto.js';
import * as operations from './operation.dto.js';

const ApiAnyCall = (summary: string, description: string, ...problems: ProblemCode[]): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary, description }),
    ApiParam({ name: 'request_id', description: 'An id, or a handle.', schema: { type: 'string' } }),
    ApiProblems('unknown_request', ...problems),
  );

export const ApiAnyList = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the requests of all keys',
      description:
        'Newest first, with the scope `observe`. A page that looked at 12,000 requests may be short or empty: go on ' +
        'until `next_cursor` is null. With `Cache-Control: max-age=2` the first page may be two seconds old.',
    }),
    ApiOkResponse({
      description: 'A page.',
      type: dto.AnyRequestPageDto,
      headers: headerReferences(['Link']),
    }),
    ApiProblems('invalid_query'),
  );

export const ApiAnyRequest = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall('Read one request of any key', 'Its status, whose it is, where it runs.'),
    ApiOkResponse({ description: 'The request.', type: dto.AnyRequestDetailsDto }),
  );

export const ApiAnyStatus = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall('Read the status of a request of any key', 'As `GET /v1/admin/requests/{request_id}`.'),
    ApiOkResponse({ description: 'The request.', type: dto.AnyRequestDetailsDto }),
  );

export const ApiLife = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall('Read what happened to a request', 'Its life over attempts and nodes, and how it moved up.'),
    ApiOkResponse({ description: 'Its events.', type: dto.LifeDto }),
  );

export const ApiAnyStream = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Follow a request of any key',
      'As its own status stream, with the shape of this collection. It has the log with the scope `payloads` alone; ' +
        'reading it is audited.',
      'invalid_query',
      'gone',
    ),
    ApiProduces('text/event-stream'),
    ApiOkResponse({
      description: 'A message a change.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
    ApiNoContentResponse({ description: 'It has completed, and all was sent.' }),
  );

export const ApiAnyOutputStream = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Follow the output of a request of any key',
      'As its own output stream. Needs the scope `payloads`; reading it is audited.',
      'invalid_query',
      'gone',
    ),
    ApiProduces('text/event-stream'),
    ApiOkResponse({
      description: 'Events `output`, `reset` and `done`.',
      content: { 'text/event-stream': { schema: { type: 'string' } } },
    }),
    ApiNoContentResponse({ description: 'It has completed, and all was sent.' }),
  );

export const ApiAnyLog = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Read the log of a request',
      'Needs the scope `payloads`; reading it is audited.',
      'invalid_query',
    ),
    ApiOkResponse({
      description: 'A page of its log.',
      type: dto.AnyLogPageDto,
      headers: headerReferences(['Link']),
    }),
  );

export const ApiAnyPayload = (part: 'input' | 'output'): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      part === 'input' ? 'Read the input of a request' : 'Read the output of a request',
      'The JSON as it was sent, or a `Range` of its bytes. Needs the scope `payloads`; reading it is audited.',
      'gone',
      'bad_request',
    ),
    ApiOkResponse({ description: 'The whole.', content: { 'application/json': { schema: dto.jsonValue } } }),
    ApiResponse({
      status: 206,
      description: 'The bytes that were asked for.',
      content: { 'application/json': { schema: { type: 'string' } } },
    }),
  );

export const ApiPicture = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Read the picture in an output',
      'The first `data:` URL of a PNG, JPEG, GIF or WebP, as such; or else where the first file is that the output has ' +
        'with such a content type. Needs the scope `payloads`; reading it is audited.',
      'gone',
    ),
    ApiProduces('image/png', 'image/jpeg', 'image/gif', 'image/webp'),
    ApiOkResponse({
      description: 'The picture.',
      content: { 'image/*': { schema: { type: 'string', format: 'binary' } } },
    }),
    ApiResponse({ status: 307, description: 'It is a file, at `Location`.' }),
  );

export const ApiAnyCancel = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Cancel a request of any key',
      'What runs is asked to stop.',
      'already_completed',
      ...reasonProblems,
    ),
    ApiReason(),
    ApiOkResponse({ description: 'The request as it is now.', type: dto.AnyRequestDetailsDto }),
  );

export const ApiAnyRetry = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Submit a completed request of any key again',
      'On behalf of its key, and under what that key may do now.',
      'not_completed',
      'gone',
      'unknown_model',
      'queue_full',
      'model_paused',
      ...reasonProblems,
    ),
    ApiReason(),
    ApiAcceptedResponse({ description: 'The new request.', type: dto.AnyRequestDetailsDto }),
  );

export const ApiAnyErase = (): MethodDecorator =>
  applyDecorators(
    ApiAnyCall(
      'Erase a completed request of any key',
      'As its key could.',
      'not_completed',
      'gone',
      ...reasonProblems,
    ),
    ApiReason(),
    ApiNoContentResponse({ description: 'It is erased.' }),
  );

const ApiOperationId = (): MethodDecorator =>
  ApiParam({
    name: 'operation_id',
    description: 'The id of the operation.',
    schema: { type: 'string', format: 'uuid' },
  });

export const ApiOperations = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'List operations', description: 'Newest first.' }),
    ApiOkResponse({
      description: 'A page.',
      type: operations.OperationPageDto,
      headers: headerReferences(['Link']),
    }),
    ApiProblems('invalid_query'),
  );

export const ApiStartOperation = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Cancel, retry or erase all that a filter finds',
      description:
        'Its members are those of this moment: what is submitted later is none of it. They are found step by step ' +
        '(`collecting`), and then dealt with in small commits, which count them; what no longer fits is skipped. It goes ' +
        'on after a crash, and can be stopped.',
    }),
    ApiBody({ type: operations.StartOperationDto, required: true }),
    ApiAcceptedResponse({ description: 'It is under way.', type: operations.OperationDto }),
    ApiOkResponse({
      description: 'With `validate_only`: what it would be about.',
      type: operations.OperationPreviewDto,
    }),
    ApiProblems(...reasonProblems),
  );

export const ApiReadOperation = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'Read how far an operation is', description: 'Its counts are exact.' }),
    ApiOperationId(),
    ApiOkResponse({ description: 'The operation.', type: operations.OperationDto }),
    ApiProblems('unknown_operation'),
  );

export const ApiStopOperation = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Stop an operation',
      description: 'After the step that is under way; what was done stays done.',
    }),
    ApiOperationId(),
    ApiReason(),
    ApiOkResponse({ description: 'The operation.', type: operations.OperationDto }),
    ApiProblems(...reasonProblems, 'unknown_operation'),
  );
