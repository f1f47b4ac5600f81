import { Controller, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import { ClientAddress } from '../../http/client-address.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { AllDeliveries } from '../../webhooks/all-deliveries.js';
import { CursorList } from '../cursor-page.js';
import { AnyRequests } from '../requests/any-requests.js';
import { ReasonBodies } from '../requests/reason-bodies.js';
import { DeliveriesQuery } from './deliveries.query.js';
import { ApiAnyDeliveries, ApiDeliveriesOfAny, ApiRedeliverAny } from './openapi.js';
import { deliveryIdOf, positionOf, WebhookViews } from './webhook-views.js';
import type { AnyDeliveryDto, AnyDeliveryPageDto } from './webhooks.dto.js';

/** More deliveries than a request has: no key has as many endpoints. */
const maxOfRequest = 1_000;

/** The webhooks of all keys. */
@ApiTags('Admin')
@Controller('v1/admin')
export class AnyDeliveriesController {
  private readonly list: CursorList<DeliveriesQuery>;

  constructor(
    private readonly deliveries: AllDeliveries,
    private readonly requests: AnyRequests,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
    private readonly reasons: ReasonBodies,
    private readonly addresses: ClientAddress,
  ) {
    const isPosition = (text: string): boolean => positionOf(handles, text) !== undefined;
    this.list = new CursorList('/v1/admin/deliveries', DeliveriesQuery, isPosition);
  }

  @Get('deliveries')
  @ApiAnyDeliveries()
  @Limited('observe', { needsKey: true })
  async anyDeliveries(
    @Query() query: DeliveriesQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const call = this.list.call(query);
    const { state, webhook_id: endpointId, host, key_id: keyId, request_id: handle } = call.filter;
    const requestId = handle === undefined ? undefined : this.handles.idOf(handle.trim());
    const isFindable = requestId === undefined || isRequestId(requestId);
    const before = call.after === undefined ? undefined : positionOf(this.handles, call.after);
    const filter = { state, endpointId, host, keyId, requestId };
    const { rows, last } = isFindable
      ? await this.deliveries.list(filter, { before, limit: call.limit })
      : { rows: [], last: undefined };
    const views = new WebhookViews(caller, this.handles);
    const reply = this.list.reply(call, {
      rows,
      positionOf: (row) => deliveryIdOf(this.handles, row),
      resumeAt: last && deliveryIdOf(this.handles, last),
      toView: (row) => views.delivery(row),
      base: this.addresses.baseUrl(request),
    });
    sendReply(response, reply);
  }

  @Get('requests/:request_id/deliveries')
  @ApiDeliveriesOfAny()
  @Limited('observe', { needsKey: true })
  async deliveriesOfAny(
    @Param('request_id') handle: string,
    @CurrentCaller() caller: Caller,
  ): Promise<AnyDeliveryPageDto> {
    const { id: requestId } = await this.requests.find(handle);
    const { rows } = await this.deliveries.list({ requestId }, { limit: maxOfRequest });
    const views = new WebhookViews(caller, this.handles);
    return { data: rows.map((row) => views.delivery(row)), next_cursor: null };
  }

  @Post('deliveries/:delivery_id/redeliver')
  @HttpCode(202)
  @ApiRedeliverAny()
  @Limited('admin', { needsKey: true })
  async redeliverAny(
    @Param('delivery_id') target: string,
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<AnyDeliveryDto> {
    const reason = await this.reasons.read(request, response);
    const position = positionOf(this.handles, target);
    const found = position && (await this.deliveries.find(position));
    if (found === undefined)
      throw new DomainError('unknown_id', `There is no delivery ${target.slice(0, 64)}.`);
    const actor = this.trail.actorOf(request, caller);
    await this.trail.change(async (manager) => {
      if (!(await this.deliveries.redeliver(manager, found))) return;
      const [before, after] = [{ state: found.state }, { state: 'pending' }];
      await this.trail.write(manager, actor, { action: 'delivery.redeliver', target, before, after, reason });
    });
    this.deliveries.wake();
    const now = (await this.deliveries.find(found)) ?? found;
    return new WebhookViews(caller, this.handles).delivery(now);
  }
}
