import { applyDecorators } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { ApiRequestCall } from '../../requests/openapi/operations.js';
import { DeliveriesDto, DeliveryDto, exampleDeliveryId } from '../dto/deliveries.dto.js';

export const ApiDeliveries = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'List the webhooks of a request',
      'The tries of each receiver, with its answers. Needs the key that owns the request.',
    ),
    ApiOkResponse({ description: 'The deliveries.', type: DeliveriesDto }),
  );

export const ApiRedeliver = (): MethodDecorator =>
  applyDecorators(
    ApiRequestCall(
      'Deliver a webhook again',
      'In any state, the delivery is tried at once, with as many retries as a new one, under the same ' +
        '`webhook-id`. If a try is in progress, the call leaves the delivery to that try.',
    ),
    ApiParam({
      name: 'delivery_id',
      description: 'The `id` of a delivery of this request.',
      schema: { type: 'string', format: 'uuid', example: exampleDeliveryId },
    }),
    ApiAcceptedResponse({ description: 'The delivery, which is tried now.', type: DeliveryDto }),
  );
