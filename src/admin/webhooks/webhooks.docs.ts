import { ApiAcceptedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { ApiCall, ApiProblems } from '../../http/openapi/operations.js';
import { ApiList } from '../../http/openapi/page.dto.js';
import { exampleId } from '../../http/openapi/responses.js';
import { AnyDeliveryDto, AnyDeliveryPageDto, ReceiverDto, ReceiverPageDto } from './webhooks.dto.js';

export const ApiAnyDeliveries = ApiList(
  'List the webhooks of all keys',
  'The deliveries of the newest requests first; needs the scope `observe`. A page that has read 10,000 ' +
    'deliveries ends there and may be short or empty; continue until `next_cursor` is null.',
  AnyDeliveryPageDto,
);

export const ApiDeliveriesOfAny = ApiCall(
  'List the webhooks of a request of any key',
  'All deliveries of the request, on one page.',
  ApiParam({
    name: 'request_id',
    description: 'The id or the handle of a request.',
    schema: { type: 'string' },
  }),
  ApiOkResponse({ description: 'The deliveries. There is only one page.', type: AnyDeliveryPageDto }),
  ApiProblems('unknown_request'),
);

export const ApiRedeliverAny = ApiCall(
  'Deliver a webhook of any key again',
  'The delivery is tried at once, with as many retries as a new one, under the same `webhook-id`. If a try ' +
    'is in progress, the call leaves the delivery to that try.',
  ApiParam({
    name: 'delivery_id',
    description: 'The `id` of the delivery in the list.',
    schema: { type: 'string' },
  }),
  ApiAcceptedResponse({ description: 'The delivery, which is tried now.', type: AnyDeliveryDto }),
  ApiProblems('unknown_id'),
);

export const ApiReceivers = ApiList(
  'List the receivers of webhooks',
  'The deliveries that succeed and fail, for each endpoint of a key and each host that requests named.',
  ReceiverPageDto,
);

export const ApiChangeEndpoint = ApiCall(
  'Disable or enable an endpoint of a key',
  'The change applies to requests that complete from now on. Pending deliveries are still sent.',
  ApiParam({
    name: 'webhook_id',
    description: 'The `id` of the endpoint in the list.',
    schema: { type: 'string', format: 'uuid', example: exampleId },
  }),
  ApiOkResponse({ description: 'The changed endpoint.', type: ReceiverDto }),
  ApiProblems('unknown_id'),
);
