import { setTimeout as delay } from 'node:timers/promises';

/**
 * Returns the result of `work`, or `otherwise` if that takes longer than `ms`. A later failure of `work` is ignored.
 */
export async function within<Value, Otherwise>(
  ms: number,
  work: Promise<Value>,
  otherwise: Otherwise,
): Promise<Value | Otherwise> {
  const patience = new AbortController();
  try {
    return await Promise.race([work, delay(ms, otherwise, { signal: patience.signal, ref: false })]);
  } finally {
    work.catch(() => undefined);
    patience.abort();
  }
}
