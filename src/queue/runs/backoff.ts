import type { Retry } from '../../models/model.js';

/**
 * Returns the delay before the next attempt: what the model asked for, plus up to 100 ms; otherwise an exponential
 * backoff with full jitter, of at most `capMs`.
 */
export function backoffMs(
  { baseMs, capMs }: Pick<Retry, 'baseMs' | 'capMs'>,
  failures: number,
  retryAfterMs: number | undefined,
  random = Math.random,
): number {
  const jittered = random() * Math.min(capMs, baseMs * 2 ** (failures - 1));
  return retryAfterMs === undefined ? jittered : retryAfterMs + random() * 100;
}
