import type { RequestRow } from '../../queue/reads/status-row.js';
import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { stateOf } from './wire.js';

/** Returns the body of a webhook as `openai.webhooks.unwrap` reads it: the id of the response, without its output. */
export function openAiWebhookBody({ row }: AdapterDelivery): string {
  return JSON.stringify({
    id: `evt_${row.id}`,
    object: 'event',
    created_at: secondsOf(row),
    type: `response.${stateOf(row)}`,
    data: { id: row.id },
  });
}

const secondsOf = ({ completedAtMs }: RequestRow): number => Math.floor(completedAtMs! / 1_000);
