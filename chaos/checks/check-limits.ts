import type { Admitted, Ledger } from '../load/ledger.js';
import { parseRateLimits } from '../../src/config/parsers.js';

/**
 * The caller's own count: a call was admitted at some time between its sending and its answer. So many calls as the
 * limit and one more, all sent and answered within one window, were too many, whatever the clocks say.
 */
export function checkLimits(ledger: Ledger, limits: { submit: string; other: string }): void {
  for (const routes of ['submit', 'other'] as const) {
    for (const { limit, windowMs, name } of parseRateLimits(limits[routes])) {
      const most = mostCertain(ledger.admitted[routes], windowMs);
      ledger.count(`most admitted in a ${name} (${routes}, of ${limit})`, most);
      if (most > limit) {
        ledger.violate('a rate limit is never exceeded', `${most} of ${limit} in a ${name} (${routes})`);
      }
    }
  }
}

function mostCertain(calls: readonly Admitted[], windowMs: number): number {
  let most = 0;
  for (const { sentAt } of calls) {
    const until = sentAt + windowMs;
    const within = calls.filter((call) => call.sentAt >= sentAt && call.answeredAt < until).length;
    most = Math.max(most, within);
  }
  return most;
}
