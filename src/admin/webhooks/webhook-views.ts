import { type Caller, hasScope } from '../../auth/caller.js';
import type { Handles } from '../../auth/handles.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { nextTryOf } from '../../webhooks/deliveries.js';
import type { OperatorDelivery, DeliveryPosition, Receiver } from '../../webhooks/operator-deliveries.js';
import type { AnyDeliveryDto, ReceiverDto } from './webhooks.dto.js';

const written = /^(rh_[\w-]{22})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/** The name of a delivery in /v1/admin. It leads to the row, and shows no id of a request. */
export const deliveryIdOf = (handles: Handles, { requestId, id }: DeliveryPosition): string =>
  `${handles.handleOf(requestId)}.${id}`;

/** undefined: the text is no such name. */
export function positionOf(handles: Handles, text: string): DeliveryPosition | undefined {
  const [, handle, id] = written.exec(text) ?? [];
  if (handle === undefined) return undefined;
  const requestId = handles.idOf(handle);
  return isRequestId(requestId) ? { requestId, id: id! } : undefined;
}

/** The webhooks as operators see them. Without `payloads` they see no query of a URL and no answer of a receiver. */
export class WebhookViews {
  private readonly seesPayloads: boolean;

  constructor(
    private readonly caller: Caller,
    private readonly handles: Handles,
  ) {
    this.seesPayloads = hasScope(caller, 'payloads');
  }

  delivery(row: OperatorDelivery): AnyDeliveryDto {
    const tries = row.tries.map(({ body, ...entry }) => ({
      ...entry,
      body: this.seesPayloads ? body : null,
    }));
    return {
      id: deliveryIdOf(this.handles, row),
      message_id: row.id,
      request_id: this.handles.shown(this.caller, row.requestId),
      model_id: row.modelId,
      key: { id: row.keyId, name: row.keyName },
      webhook_id: row.endpointId,
      event: row.event,
      url: this.url(row.url),
      state: row.state,
      tries,
      next_try_at: nextTryOf(row),
      created_at: row.createdAt.toISOString(),
    };
  }

  receiver(row: Receiver): ReceiverDto {
    const { lastTry: last } = row;
    return {
      id: row.endpointId,
      url: row.url && this.url(row.url),
      host: row.host,
      key: row.keyId && { id: row.keyId, name: row.keyName },
      events: row.events,
      disabled_at: row.disabledAt?.toISOString() ?? null,
      pending: row.pending,
      is_pending_exact: row.isPendingExact,
      delivered_last_day: row.delivered,
      failed_last_day: row.givenUp,
      failed_tries_last_day: row.failedTries,
      last_status: last?.status ?? null,
      last_error: last?.error ?? null,
      last_at: last?.at ?? null,
      next_try_at: row.nextTryAt?.toISOString() ?? null,
    } as ReceiverDto;
  }

  private url(url: string): string {
    return this.seesPayloads ? url : url.split(/[?#]/, 1)[0]!;
  }
}
