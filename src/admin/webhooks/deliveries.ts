import { Injectable } from '@nestjs/common';
import type { Actor } from '../../audit/actor.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import type { Caller } from '../../auth/caller.js';
import { Handles } from '../../auth/handles.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Page } from '../../http/input/page.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { OperatorDeliveries } from '../../webhooks/operator-deliveries.js';
import { AdminRequests } from '../requests/requests.js';
import type { AnyDeliveryDto, AnyDeliveryPageDto, DeliveriesQuery } from './webhooks.dto.js';
import { deliveryIdOf, positionOf, WebhookViews } from './webhook-views.js';

/** More deliveries than a request has: no key has as many endpoints. */
const maxOfRequest = 1_000;

/** Shows operators the webhooks of all keys, and delivers one again. */
@Injectable()
export class AdminDeliveries {
  constructor(
    private readonly deliveries: OperatorDeliveries,
    private readonly requests: AdminRequests,
    private readonly handles: Handles,
    private readonly trail: AuditTrail,
  ) {}

  async list(caller: Caller, page: Page<DeliveriesQuery>): Promise<AnyDeliveryPageDto> {
    const { limit } = page;
    const { state, webhook_id: endpointId, host, key_id: keyId, request_id: handle } = page.query;
    const requestId = handle === undefined ? undefined : this.handles.idOf(handle.trim());
    const isFindable = requestId === undefined || isRequestId(requestId);
    const before = page.after((text) => positionOf(this.handles, text));
    const filter = { state, endpointId, host, keyId, requestId };
    const { rows, last } = isFindable
      ? await this.deliveries.list(filter, { before, limit })
      : { rows: [], last: undefined };
    const end = rows.length > limit ? rows[limit - 1] : last;
    const views = new WebhookViews(caller, this.handles);
    return page.until(rows.slice(0, limit), end ? deliveryIdOf(this.handles, end) : null, (row) =>
      views.delivery(row),
    );
  }

  async ofRequest(caller: Caller, idOrHandle: string): Promise<AnyDeliveryPageDto> {
    const { id: requestId } = await this.requests.find(idOrHandle);
    const { rows } = await this.deliveries.list({ requestId }, { limit: maxOfRequest });
    const views = new WebhookViews(caller, this.handles);
    return { data: rows.map((row) => views.delivery(row)), next_cursor: null };
  }

  async redeliver(
    caller: Caller,
    actor: Actor,
    target: string,
    reason: string | undefined,
  ): Promise<AnyDeliveryDto> {
    const position = positionOf(this.handles, target);
    const found = position && (await this.deliveries.find(position));
    if (found === undefined)
      throw new DomainError('unknown_id', `There is no delivery ${target.slice(0, 64)}.`);
    await this.trail.inTransaction(async (manager) => {
      if (!(await this.deliveries.redeliver(manager, found))) return;
      await this.trail.write(manager, actor, {
        action: 'delivery.redeliver',
        target,
        before: { state: found.state },
        after: { state: 'pending' },
        reason,
      });
    });
    this.deliveries.wake();
    const now = (await this.deliveries.find(found)) ?? found;
    return new WebhookViews(caller, this.handles).delivery(now);
  }
}
