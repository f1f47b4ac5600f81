import { responseOf } from '../../json/responses.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import type { RequestRow } from '../../queue/reads/status-row.js';
import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { responseHead } from './wire.js';

/** Returns the body of a webhook as `openai.webhooks.unwrap` reads it: the id of the response, without its output. */
export function openAiWebhookBody({ row }: AdapterDelivery): string {
  return JSON.stringify({
    id: `evt_${row.id}`,
    object: 'event',
    created_at: secondsOf(row),
    type: `response.${statusOf(row)}`,
    data: { id: row.id },
  });
}

/** Returns the status that the response shows. A large output is not read here, so that it counts as complete. */
function statusOf(row: AdapterDelivery['row']): string {
  const head = responseHead(row);
  const { output } = row;
  if (output === null || output.length > maxInlineBytes) return head.status;
  return String(responseOf(head, JSON.parse(output))['status']);
}

const secondsOf = ({ completedAtMs }: RequestRow): number => Math.floor(completedAtMs! / 1_000);
