import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { predictionText } from './prediction.js';

/** Returns the body of a webhook: the prediction, without its input and its logs. */
export function replicateWebhookBody({ row, isStart, base }: AdapterDelivery): string {
  if (!isStart) return predictionText(row, base, { output: row.output });
  // What has become of it since is said by a later webhook.
  const started = { ...row, state: 'IN_PROGRESS' as const, completedAtMs: null, inferenceMs: null };
  return predictionText(started, base, { output: null });
}
