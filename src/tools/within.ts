import { setTimeout as delay } from 'node:timers/promises';

/** What `work` comes to, or `otherwise` if that takes longer than `ms`; a failure that comes later is nobody's. */
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
