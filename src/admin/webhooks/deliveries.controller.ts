import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { Actor } from '../../audit/actor.decorator.js';
import { Reason } from '../../audit/reason.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller } from '../../auth/current-caller.decorator.js';
import { type Page, PageOf } from '../../http/input/page.js';
import { Operators } from '../operators.js';
import { AdminDeliveries } from './deliveries.js';
import { type AnyDeliveryDto, type AnyDeliveryPageDto, DeliveriesQuery } from './webhooks.dto.js';
import { ApiAnyDeliveries, ApiDeliveriesOfAny, ApiRedeliverAny } from './webhooks.docs.js';

/** The webhooks of all keys. */
@Controller('v1/admin')
export class AdminDeliveriesController {
  constructor(private readonly deliveries: AdminDeliveries) {}

  @Get('deliveries')
  @ApiAnyDeliveries
  @Operators('observe')
  anyDeliveries(
    @PageOf(DeliveriesQuery) page: Page<DeliveriesQuery>,
    @CurrentCaller() caller: Caller,
  ): Promise<AnyDeliveryPageDto> {
    return this.deliveries.list(caller, page);
  }

  @Get('requests/:request_id/deliveries')
  @ApiDeliveriesOfAny
  @Operators('observe')
  deliveriesOfAny(
    @Param('request_id') idOrHandle: string,
    @CurrentCaller() caller: Caller,
  ): Promise<AnyDeliveryPageDto> {
    return this.deliveries.ofRequest(caller, idOrHandle);
  }

  @Post('deliveries/:delivery_id/redeliver')
  @HttpCode(202)
  @ApiRedeliverAny
  @Operators('admin')
  redeliverAny(
    @Param('delivery_id') id: string,
    @CurrentCaller() caller: Caller,
    @Actor() actor: Actor,
    @Reason() reason: string | undefined,
  ): Promise<AnyDeliveryDto> {
    return this.deliveries.redeliver(caller, actor, id, reason);
  }
}
