const baseMs = 1_000;
const capMs = 60_000;

/** Exponential with full jitter, but never before the time that the model itself asked for. */
export function backoffMs(failures: number, retryAfterMs: number | undefined, random = Math.random): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** (failures - 1));
  const jittered = random() * ceiling;
  return retryAfterMs === undefined ? jittered : retryAfterMs + random() * baseMs * 0.1;
}
