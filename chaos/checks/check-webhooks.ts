import type { Service } from '../cluster/cluster.js';
import type { Ledger } from '../load/ledger.js';
import type { WebhookCall } from '../model/webhook-receiver.js';
import { isDropped, type RequestRow, type StoredState } from './stored-state.js';

interface DeliveryRow {
  id: string;
  requestId: string;
  state: string;
}

/** Every completion of a request with a webhook was sent, under one id, and nothing else was sent. */
export async function checkWebhooks(
  { postgres }: Pick<Service, 'postgres'>,
  stored: StoredState,
  calls: readonly WebhookCall[],
  ledger: Ledger,
): Promise<void> {
  const { requests } = stored;
  const deliveries = await postgres.query<DeliveryRow>(
    `SELECT id, request_id AS "requestId", state FROM webhook_delivery`,
  );
  const counts = new Map<string, number>();
  for (const { requestId } of deliveries) counts.set(requestId, (counts.get(requestId) ?? 0) + 1);
  for (const { id, webhookUrl } of requests.values()) {
    const count = counts.get(id) ?? 0;
    if (count !== (webhookUrl === null ? 0 : 1))
      ledger.violate('a completion is delivered once for each receiver', `${count} deliveries`, id);
  }
  const called = new Set(calls.map(({ webhookId }) => webhookId));
  for (const { id, requestId, state } of deliveries) {
    if (state !== 'delivered')
      ledger.violate('every completion is delivered in the end', `it is ${state}`, requestId);
    if (!called.has(id)) ledger.violate('what counts as delivered was received', state, requestId);
  }
  const known = new Map(deliveries.map(({ id, requestId }) => [id, requestId]));
  for (const { webhookId, body } of calls) {
    if (isDropped(body.request_id, stored)) continue;
    const row = requests.get(body.request_id);
    if (known.get(webhookId) !== body.request_id || row === undefined)
      ledger.violate('a webhook is of a completed request, under its id', webhookId, body.request_id);
    else if (!matches(body, row))
      ledger.violate('a webhook has what is stored', JSON.stringify(body).slice(0, 300), row.id);
  }
  ledger.count('webhooks received', calls.length);
  ledger.count('webhooks received again', calls.length - called.size);
}

function matches({ status, payload, error }: WebhookCall['body'], row: RequestRow): boolean {
  const succeeded = row.outcome === 'succeeded';
  return (
    status === (succeeded ? 'OK' : 'ERROR') &&
    (error?.code ?? null) === row.code &&
    JSON.stringify(payload) === JSON.stringify(row.output)
  );
}
