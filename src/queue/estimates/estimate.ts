/** Milliseconds since 1970. */
export interface TimeSpan {
  fromMs: number;
  toMs: number;
}

/** The time at which a request starts, if it waits, and the time at which it ends. */
export interface Estimate {
  start: TimeSpan | undefined;
  end: TimeSpan;
}

/** A change smaller than this part of the remaining time is not shown. */
const minChange = 1 / 10;
const minChangeMs = 1_000;

/** Returns the estimate shown last, unless the next one differs enough from it. */
export function steady(
  shown: Estimate | undefined,
  next: Estimate | undefined,
  nowMs: number,
): Estimate | undefined {
  if (shown === undefined || next === undefined) return next;
  const areAlike = isAlike(shown.start, next.start, nowMs) && isAlike(shown.end, next.end, nowMs);
  return areAlike ? shown : next;
}

function isAlike(shown: TimeSpan | undefined, next: TimeSpan | undefined, nowMs: number): boolean {
  if (shown === undefined || next === undefined) return shown === next;
  const leftMs = (next.fromMs + next.toMs) / 2 - nowMs;
  const least = Math.max(minChangeMs, leftMs * minChange);
  return Math.abs(next.fromMs - shown.fromMs) < least && Math.abs(next.toMs - shown.toMs) < least;
}
