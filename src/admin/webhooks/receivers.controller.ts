import { Controller, Get, Param, Patch, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { validate as isUuid } from 'uuid';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { CurrentCaller, type GuardedRequest } from '../../auth/current-caller.decorator.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import { BodyReader } from '../../http/body-reader.js';
import { ClientAddress } from '../../http/client-address.js';
import { sendReply } from '../../http/reply.js';
import { Limited } from '../../limits/limited.js';
import { parseObjectBody } from '../../http/input/json-body.js';
import { assertKnown, assertNoOptions } from '../../http/input/option.js';
import { AllDeliveries, lastUuid, type Receiver } from '../../webhooks/all-deliveries.js';
import { CursorList, PageQuery } from '../cursor-page.js';
import { reasonOf } from '../requests/reason-bodies.js';
import { ApiChangeEndpoint, ApiReceivers } from './openapi.js';
import { WebhookViews } from './webhook-views.js';
import type { ReceiverDto } from './webhooks.dto.js';

const example = '{"disabled": true, "reason": "it is down for good"}';
/** Endpoints come before hosts. */
const isPosition = (text: string): boolean =>
  text.startsWith('host ') || (text.startsWith('endpoint ') && isUuid(text.slice('endpoint '.length)));
const list = new CursorList('/v1/admin/webhooks', PageQuery, isPosition);

/** The receivers of webhooks, with their results. */
@ApiTags('Admin')
@Controller('v1/admin/webhooks')
export class ReceiversController {
  constructor(
    private readonly deliveries: AllDeliveries,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
    private readonly bodies: BodyReader,
    private readonly addresses: ClientAddress,
  ) {}

  @Get()
  @ApiReceivers()
  @Limited('observe', { needsKey: true })
  async receivers(
    @Query() query: PageQuery,
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res() response: Response,
  ): Promise<void> {
    const call = list.call(query);
    const views = new WebhookViews(caller, this.handles);
    const reply = list.reply(call, {
      rows: await this.page(call.after ?? `endpoint ${lastUuid}`, call.limit + 1),
      positionOf: ({ endpointId, host }) => (endpointId === null ? `host ${host}` : `endpoint ${endpointId}`),
      toView: (row) => views.receiver(row),
      base: this.addresses.baseUrl(request),
    });
    sendReply(response, reply);
  }

  @Patch(':webhook_id')
  @ApiChangeEndpoint()
  @Limited('admin', { needsKey: true })
  async changeEndpoint(
    @Param('webhook_id') id: string,
    @CurrentCaller() caller: Caller,
    @Req() request: GuardedRequest,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ReceiverDto> {
    assertNoOptions(request.query);
    const { value } = parseObjectBody(await this.bodies.read(request, response), { example });
    assertKnown(Object.entries(value), ['disabled', 'reason']);
    const { disabled } = value;
    if (typeof disabled !== 'boolean')
      throw new DomainError('bad_request', `"disabled" takes true or false, as in ${example}.`);
    const reason = reasonOf(value);
    const actor = this.trail.actorOf(request, caller);
    await this.trail.change(async (manager) => {
      const changed = isUuid(id) ? await this.deliveries.setDisabled(manager, id, disabled) : undefined;
      if (changed === undefined) throw unknown(id);
      if (changed.before === changed.after) return;
      const [before, after] = [changed.before, changed.after].map((at) => ({ disabled_at: at }));
      const action = disabled ? 'endpoint.disable' : 'endpoint.enable';
      await this.trail.write(manager, actor, { action, target: id, before: before!, after: after!, reason });
    });
    const found = await this.deliveries.endpoint(id);
    if (found === undefined) throw unknown(id);
    return new WebhookViews(caller, this.handles).receiver(found);
  }

  private async page(after: string, max: number): Promise<Receiver[]> {
    const [kind, ...rest] = after.split(' ');
    const name = rest.join(' ');
    if (kind === 'host') return this.deliveries.hosts(name, max);
    const endpoints = await this.deliveries.endpoints(name, max);
    if (endpoints.length >= max) return endpoints;
    return [...endpoints, ...(await this.deliveries.hosts(null, max - endpoints.length))];
  }
}

const unknown = (id: string): DomainError =>
  new DomainError('unknown_id', `There is no endpoint ${id.slice(0, 64)}.`);
