import { DomainError } from '../../errors/domain-error.js';
import { maxHoldMs } from '../../requests/long-polls.js';

const shortestMs = 1_000;

/** Returns the milliseconds of `wait`. Without it a call waits for as long as it may. */
export function waitMsOf(query: object): number {
  const { wait } = query as { wait?: unknown };
  if (wait === undefined) return maxHoldMs;
  if (typeof wait === 'string' && /^\d{1,9}$/.test(wait)) return Math.max(shortestMs, Number(wait));
  throw new DomainError('invalid_query', 'The query parameter "wait" takes milliseconds, a whole number.');
}
