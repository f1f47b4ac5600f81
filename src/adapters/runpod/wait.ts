import { DomainError } from '../../errors/domain-error.js';

const [shortestMs, longestMs] = [1_000, 300_000];
export const usualWaitMs = 90_000;

/** Returns the milliseconds of `wait`, as Runpod bounds them. */
export function waitMsOf(query: object): number {
  const { wait } = query as { wait?: unknown };
  if (wait === undefined) return usualWaitMs;
  if (typeof wait === 'string' && /^\d{1,9}$/.test(wait))
    return Math.min(longestMs, Math.max(shortestMs, Number(wait)));
  throw new DomainError('invalid_query', 'The query parameter "wait" takes milliseconds, a whole number.');
}
