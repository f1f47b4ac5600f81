import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds on the one clock of everything that a run records. */
export const now = (): number => performance.now();

export const sleep = (ms: number): Promise<void> => delay(ms);

/** Returns whether `check` came true before the deadline. A check that throws counts as "not yet". */
export async function within(ms: number, check: () => Promise<boolean> | boolean): Promise<boolean> {
  const deadline = now() + ms;
  for (;;) {
    try {
      if (await check()) return true;
    } catch {
      // not yet
    }
    if (now() > deadline) return false;
    await sleep(100);
  }
}

/** A stretch of time; `to` is Infinity while it lasts. */
export interface Span {
  from: number;
  to: number;
}

export function overlaps(span: Span, from: number, to: number): boolean {
  return span.from <= to && span.to >= from;
}
