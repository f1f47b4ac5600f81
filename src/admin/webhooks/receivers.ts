import { Injectable } from '@nestjs/common';
import { validate as isUuid } from 'uuid';
import type { Actor } from '../../audit/actor.js';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page, PageQuery } from '../../http/input/page.js';
import { AuditedWebhooks } from '../../webhooks/audited-webhooks.js';
import { OperatorDeliveries, lastUuid, type Receiver } from '../../webhooks/operator-deliveries.js';
import { WebhookViews } from './webhook-views.js';
import type { ChangeEndpointDto, ReceiverDto, ReceiverPageDto } from './webhooks.dto.js';

/** Endpoints come before hosts. */
interface Place {
  kind: 'endpoint' | 'host';
  /** The id of the endpoint, or the host. */
  name: string;
}

const first: Place = { kind: 'endpoint', name: lastUuid };

function toPlace(position: string): Place | undefined {
  const [, kind, name = ''] = /^(endpoint|host) (.*)$/s.exec(position) ?? [];
  if (kind === 'host') return { kind, name };
  return kind === 'endpoint' && isUuid(name) ? { kind, name } : undefined;
}

/** Shows operators the receivers of webhooks, and disables or enables an endpoint. */
@Injectable()
export class Receivers {
  constructor(
    private readonly deliveries: OperatorDeliveries,
    private readonly handles: Handles,
    private readonly webhooks: AuditedWebhooks,
  ) {}

  async list(caller: Caller, page: Page<PageQuery>): Promise<ReceiverPageDto> {
    const rows = await this.rows(page.after(toPlace) ?? first, page.limit + 1);
    const views = new WebhookViews(caller, this.handles);
    return page.of(
      rows,
      ({ endpointId, host }) => (endpointId === null ? `host ${host}` : `endpoint ${endpointId}`),
      (row) => views.receiver(row),
    );
  }

  async change(
    caller: Caller,
    actor: Actor,
    id: string,
    { disabled, reason }: ChangeEndpointDto,
  ): Promise<ReceiverDto> {
    const change = isUuid(id)
      ? await this.webhooks.change(actor, { id }, { isDisabled: disabled }, reason)
      : undefined;
    if (change === undefined) throw unknown(id);
    const found = await this.deliveries.endpoint(id);
    if (found === undefined) throw unknown(id);
    return new WebhookViews(caller, this.handles).receiver(found);
  }

  private async rows({ kind, name }: Place, max: number): Promise<Receiver[]> {
    if (kind === 'host') return this.deliveries.hosts(name, max);
    const endpoints = await this.deliveries.endpoints(name, max);
    if (endpoints.length >= max) return endpoints;
    return [...endpoints, ...(await this.deliveries.hosts(null, max - endpoints.length))];
  }
}

const unknown = (id: string): DomainError =>
  new DomainError('unknown_id', `There is no endpoint ${id.slice(0, 64)}.`);
