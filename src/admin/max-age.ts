import type { IncomingMessage } from 'node:http';

const longestMs = 10_000;

/** Returns how old the answer may be, by `Cache-Control: max-age=2` of the call; 0: it must be read for this call. */
export function maxAgeMs({ headers }: IncomingMessage): number {
  const [, seconds] = /\bmax-age=(\d{1,6})\b/i.exec(headers['cache-control'] ?? '') ?? [];
  return seconds === undefined ? 0 : Math.min(longestMs, Number(seconds) * 1_000);
}
