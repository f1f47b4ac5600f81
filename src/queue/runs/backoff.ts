/** Exponential with full jitter, up to a minute, but never before the time that the model itself asked for. */
export function backoffMs(failures: number, retryAfterMs: number | undefined, random = Math.random): number {
  const jittered = random() * Math.min(60_000, 1_000 * 2 ** (failures - 1));
  return retryAfterMs === undefined ? jittered : retryAfterMs + random() * 100;
}
