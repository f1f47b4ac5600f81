import { parseRetryAfter } from '../outgoing/retry-after.js';
import type { DeliveryState } from './entities/webhook-delivery.entity.js';
import type { SendingTerms } from './sending-terms.js';

/** The answer of a receiver; status null: none came in time. */
export interface Answer {
  status: number | null;
  retryAfter?: string | undefined;
}

export interface Verdict {
  state: DeliveryState;
  /** The number of tries of the plan that were made. */
  step: number;
  nextInMs: number;
}

/**
 * Judges a try: 2xx is a success, 410 ends the delivery, and any other result is retried while the plan has tries left.
 */
export function verdictOn(
  { status, retryAfter }: Answer,
  made: number,
  { delaysMs, maxRetryAfterMs }: SendingTerms,
  nowMs: number,
): Verdict {
  const step = made + 1;
  if (status !== null && status >= 200 && status < 300) return { state: 'delivered', step, nextInMs: 0 };
  if (status === 410) return { state: 'ended', step, nextInMs: 0 };
  const delayMs = delaysMs[made];
  if (delayMs === undefined) return { state: 'failed', step, nextInMs: 0 };
  // Jitter of up to a fifth, so that deliveries that failed together are not retried together.
  const jittered = delayMs * (1 + Math.random() / 5);
  const putOff = Math.min(parseRetryAfter(retryAfter, nowMs) ?? 0, maxRetryAfterMs);
  return { state: 'pending', step, nextInMs: Math.max(jittered, putOff) };
}
