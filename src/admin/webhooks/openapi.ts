import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiBody, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiProblems } from '../../http/openapi/operations.js';
import { exampleId, headerReferences } from '../../http/openapi/responses.js';
import { ApiReason, reasonProblems } from '../openapi/reason.js';
import {
  AnyDeliveryDto,
  AnyDeliveryPageDto,
  ChangeEndpointDto,
  ReceiverDto,
  ReceiverPageDto,
} from './webhooks.dto.js';

const page = { description: 'A page.', headers: headerReferences(['Link']) };

export const ApiAnyDeliveries = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List the webhooks of all keys',
      description:
        'Those of the newest requests first, with the scope `observe`. A page that looked at 10,000 may be short or ' +
        'empty: go on until `next_cursor` is null.',
    }),
    ApiOkResponse({ ...page, type: AnyDeliveryPageDto }),
    ApiProblems('invalid_query'),
  );

export const ApiDeliveriesOfAny = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({ summary: 'List the webhooks of a request of any key', description: 'All of them.' }),
    ApiParam({ name: 'request_id', description: 'An id, or a handle.', schema: { type: 'string' } }),
    ApiOkResponse({ description: 'The deliveries; the page is the last one.', type: AnyDeliveryPageDto }),
    ApiProblems('unknown_request'),
  );

export const ApiRedeliverAny = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Deliver a webhook of any key again',
      description:
        'It is tried at once, and again as often as a new one, under the same `webhook-id`. One that is being tried at ' +
        'this moment is left to that try.',
    }),
    ApiParam({ name: 'delivery_id', description: 'The `id` of the list.', schema: { type: 'string' } }),
    ApiReason(),
    ApiAcceptedResponse({ description: 'The delivery, which is tried now.', type: AnyDeliveryDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );

export const ApiReceivers = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List where webhooks go',
      description:
        'What arrives and what fails, for each endpoint of a key and each host that requests named.',
    }),
    ApiOkResponse({ ...page, type: ReceiverPageDto }),
    ApiProblems('invalid_query'),
  );

export const ApiChangeEndpoint = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Disable or enable an endpoint of a key',
      description: 'For requests that complete from now on; what is pending still goes.',
    }),
    ApiParam({
      name: 'webhook_id',
      description: 'The `id` of the list.',
      schema: { type: 'string', format: 'uuid', example: exampleId },
    }),
    ApiBody({ type: ChangeEndpointDto, required: true }),
    ApiOkResponse({ description: 'The endpoint as it is now.', type: ReceiverDto }),
    ApiProblems(...reasonProblems, 'unknown_id'),
  );
