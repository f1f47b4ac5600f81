import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { predictionText } from './prediction.js';

/** Returns the body of a webhook: the prediction, without its input, and with the logs of its run so far. */
export function replicateWebhookBody({ row, event, said, base }: AdapterDelivery): string {
  if (event === 'completed') return predictionText(row, base, { output: row.output });
  if (event === 'said') {
    const { output = null, logs = [] } = said ?? {};
    return predictionText(row, base, { output, logs: logs.map((line) => `${line}\n`).join('') });
  }
  // A later webhook reports what has happened since.
  const started = { ...row, state: 'IN_PROGRESS' as const, completedAtMs: null, inferenceMs: null };
  return predictionText(started, base, { output: null });
}
