import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { validate as isUuid } from 'uuid';
import type { Caller } from '../auth/caller.js';
import { CurrentCaller } from '../auth/current-caller.decorator.js';
import { DomainError } from '../errors/domain-error.js';
import { Limited } from '../limits/limited.js';
import { RequestHandlers } from '../requests/request-handlers.js';
import { Deliveries } from './deliveries.js';
import type { DeliveriesDto, DeliveryDto } from './dto/deliveries.dto.js';
import { ApiDeliveries, ApiRedeliver } from './openapi/operations.js';

@ApiTags('Webhooks')
@Controller('v1/queue/requests/:request_id/deliveries')
export class DeliveriesController {
  constructor(
    private readonly requests: RequestHandlers,
    private readonly deliveries: Deliveries,
  ) {}

  @Get()
  @ApiDeliveries()
  @Limited('read', { needsKey: true })
  async listDeliveries(
    @Param('request_id') requestId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<DeliveriesDto> {
    const { id } = await this.requests.find(caller, requestId);
    return { data: await this.deliveries.list(id) };
  }

  @Post(':delivery_id/redeliver')
  @HttpCode(202)
  @ApiRedeliver()
  @Limited('read', { needsKey: true })
  async redeliverWebhook(
    @Param('request_id') requestId: string,
    @Param('delivery_id') deliveryId: string,
    @CurrentCaller() caller: Caller,
  ): Promise<DeliveryDto> {
    const { id } = await this.requests.find(caller, requestId);
    const delivery = isUuid(deliveryId) ? await this.deliveries.redeliver(id, deliveryId) : undefined;
    if (delivery !== undefined) return delivery;
    throw new DomainError('unknown_request', 'This request has no such delivery.');
  }
}
