import type { Retry } from '../../models/model.js';

/** Returns an exponential backoff with full jitter, but never less than the time that the model itself asked for. */
export function backoffMs(
  { baseMs, capMs }: Pick<Retry, 'baseMs' | 'capMs'>,
  failures: number,
  retryAfterMs: number | undefined,
  random = Math.random,
): number {
  const jittered = random() * Math.min(capMs, baseMs * 2 ** (failures - 1));
  return retryAfterMs === undefined ? jittered : retryAfterMs + random() * 100;
}
