import type { FaultRecord } from '../faults/fault.js';
import type { Admitted, Ledger } from '../load/ledger.js';
import { parseRateLimits } from '../../src/config/parsers.js';

/**
 * How long PostgreSQL may keep a commit that does not wait for the disk to itself: three times `wal_writer_delay`.
 * Source: its documentation, "Asynchronous Commit".
 */
const forgettableMs = 600;

/**
 * The caller's own count: a call was admitted at some time between its sending and its answer. So many calls as the
 * limit and one more, all sent and answered within one window, were too many, whatever the clocks say.
 * With a PostgreSQL that is killed its last counts may go, but not those of a submission that was answered (ADR 6).
 */
export function checkLimits(
  ledger: Ledger,
  limits: { submit: string; other: string },
  faults: readonly FaultRecord[],
): void {
  const kills = faults.filter(({ kind }) => kind === 'database killed');
  const mayBeForgotten = ({ sentAt, answeredAt }: Admitted): boolean =>
    kills.some(({ from, healedAt }) => answeredAt > from - forgettableMs && sentAt < healedAt);
  const counted = {
    submit: ledger.admitted.submit,
    other: ledger.admitted.other.filter((call) => !mayBeForgotten(call)),
  };
  for (const routes of ['submit', 'other'] as const) {
    for (const { limit, windowMs, name } of parseRateLimits(limits[routes])) {
      const most = mostCertain(counted[routes], windowMs);
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
