import { Injectable } from '@nestjs/common';
import { validate as isUuid } from 'uuid';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Reply } from '../../http/reply.js';
import { AllDeliveries, lastUuid, type Receiver } from '../../webhooks/all-deliveries.js';
import { CursorList, PageQuery } from '../cursor-page.js';
import { WebhookViews } from './webhook-views.js';
import type { ChangeEndpointDto, ReceiverDto } from './webhooks.dto.js';

/** Endpoints come before hosts. */
const isPosition = (text: string): boolean =>
  text.startsWith('host ') || (text.startsWith('endpoint ') && isUuid(text.slice('endpoint '.length)));
const list = new CursorList('/v1/admin/webhooks', PageQuery, isPosition);

/** Shows operators the receivers of webhooks, and disables or enables an endpoint. */
@Injectable()
export class Receivers {
  constructor(
    private readonly deliveries: AllDeliveries,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
  ) {}

  async list(caller: Caller, query: object, base: string): Promise<Reply> {
    const call = list.call(query);
    const views = new WebhookViews(caller, this.handles);
    return list.reply(call, {
      rows: await this.page(call.after ?? `endpoint ${lastUuid}`, call.limit + 1),
      positionOf: ({ endpointId, host }) => (endpointId === null ? `host ${host}` : `endpoint ${endpointId}`),
      toView: (row) => views.receiver(row),
      base,
    });
  }

  async change(
    caller: Caller,
    actor: Actor,
    id: string,
    { disabled, reason }: ChangeEndpointDto,
  ): Promise<ReceiverDto> {
    await this.trail.change(async (manager) => {
      const changed = isUuid(id) ? await this.deliveries.setDisabled(manager, id, disabled) : undefined;
      if (changed === undefined) throw unknown(id);
      if (changed.before === changed.after) return;
      await this.trail.write(manager, actor, {
        action: disabled ? 'endpoint.disable' : 'endpoint.enable',
        target: id,
        before: { disabled_at: changed.before },
        after: { disabled_at: changed.after },
        reason,
      });
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
