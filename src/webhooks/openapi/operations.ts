import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { ApiRequestCall } from '../../requests/openapi/operations.js';
import { DeliveriesDto, DeliveryDto, exampleDeliveryId } from '../dto/deliveries.dto.js';

export const ApiDeliveries = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'List the webhooks of a request',
      'What each receiver was sent, and what it answered to every try. Needs the key that owns the request.',
    ),
    ApiOkResponse({ description: 'The deliveries.', type: DeliveriesDto }),
  );

export const ApiRedeliver = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'Deliver a webhook again',
      'Whatever became of it: it is tried at once, and again as often as a new one, under the same `webhook-id`. ' +
        'One that is being tried at this moment is left to that try.',
    ),
    ApiParam({
      name: 'delivery_id',
      description: 'The `id` of a delivery of this request.',
      schema: { type: 'string', format: 'uuid', example: exampleDeliveryId },
    }),
    ApiAcceptedResponse({ description: 'The delivery, which is tried now.', type: DeliveryDto }),
  );
