import { parseRateLimits } from '../../src/config/parsers.js';
import type { FaultRecord } from '../faults/fault.js';
import type { Caller, LimitedCall, RouteClass } from '../load/caller.js';
import type { Ledger } from '../load/ledger.js';
import type { Pace } from '../load/pace.js';

type RateWindow = ReturnType<typeof parseRateLimits>[number];

/** A caller below this part of its limit is hardly ever refused. */
const calmShare = 0.7;
const maxRefused = 0.01;
/** With fewer calls a rate of one in a hundred is not judged. */
const minJudged = 1_000;
/** A caller may get less until this long, plus one window, after a fault. */
const afterFaultMs = 5_000;
/** The time after which a caller gives up a call. */
const longestCallMs = 20_000;

export interface LimitUse {
  routes: RouteClass;
  window: string;
  callers: number;
  /** The greatest part of a limit that was provably admitted in one window; `fullestCaller` is the caller. */
  fullest: number;
  fullestCaller: string;
  refused: number;
  /** Calls below 70 % of the limit, away from faults and slow moments; `unduly` is how many of them were refused. */
  judged: number;
  unduly: number;
  /** `unduly` by the caller's name. */
  undulyOf: Record<string, number>;
}

/** Checks the limits as callers see them: never exceeded, and hardly ever in the way of a caller far below them. */
export function checkLimits(
  callers: readonly Caller[],
  records: readonly FaultRecord[],
  pace: Pace,
  ledger: Ledger,
): LimitUse[] {
  const uses = new Map<string, LimitUse>();
  for (const caller of callers) {
    for (const routes of ['submit', 'other'] as const) {
      const calls = caller.calls[routes].toSorted((a, b) => a.sentAt - b.sentAt);
      if (calls.length === 0) continue;
      for (const window of parseRateLimits(caller.limits[routes])) {
        const use = useOf(uses, routes, window);
        use.callers++;
        checkExceeded(caller, calls, window, use, ledger);
        countRefusals(caller, calls, window, records, pace, use);
      }
    }
  }
  for (const use of uses.values()) {
    if (use.judged < minJudged || use.unduly <= use.judged * maxRefused) continue;
    const worst = Object.entries(use.undulyOf).sort(([, one], [, other]) => other - one);
    const named = worst.slice(0, 8).map(([name, count]) => `${name} ${count}`);
    const detail = `${use.unduly} of ${use.judged} in the ${use.window} (${use.routes}): ${named.join(', ')}`;
    ledger.violate('a caller below 70 % of its limit is hardly ever refused', detail);
  }
  return [...uses.values()];
}

function useOf(uses: Map<string, LimitUse>, routes: RouteClass, { name }: RateWindow): LimitUse {
  const id = `${routes} ${name}`;
  const counts = {
    callers: 0,
    fullest: 0,
    fullestCaller: '',
    refused: 0,
    judged: 0,
    unduly: 0,
    undulyOf: {},
  };
  const use = uses.get(id) ?? { routes, window: name, ...counts };
  uses.set(id, use);
  return use;
}

/**
 * A call was admitted at some time between its sending and its answer. If one call more than the limit was both sent
 * and answered within one window, the limit was exceeded, whatever the clocks say.
 */
function checkExceeded(
  caller: Caller,
  calls: readonly LimitedCall[],
  { limit, windowMs, name }: RateWindow,
  use: LimitUse,
  ledger: Ledger,
): void {
  const admitted = calls.filter(({ result }) => result === 'admitted');
  let most = 0;
  for (const [i, { sentAt }] of admitted.entries()) {
    const until = sentAt + windowMs;
    let within = 0;
    for (let j = i; j < admitted.length && admitted[j]!.sentAt < until; j++) {
      if (admitted[j]!.answeredAt < until) within++;
    }
    most = Math.max(most, within);
  }
  if (most / limit > use.fullest) Object.assign(use, { fullest: most / limit, fullestCaller: caller.name });
  if (most <= limit) return;
  const detail = `${caller.name}: ${most} of ${limit} in a ${name} (${use.routes})`;
  ledger.violate('a rate limit is never exceeded', detail);
}

function countRefusals(
  { name: callerName }: Caller,
  calls: readonly LimitedCall[],
  { limit, windowMs, name }: RateWindow,
  records: readonly FaultRecord[],
  pace: Pace,
  use: LimitUse,
): void {
  const most = limit * calmShare;
  for (const [i, call] of calls.entries()) {
    const refused = call.result === 'refused' && (call.violated.length === 0 || call.violated.includes(name));
    if (refused) use.refused++;
    const { sentAt, answeredAt } = call;
    if (call.result === 'unknown' || isDisturbed(records, sentAt - windowMs - afterFaultMs, answeredAt))
      continue;
    if (pace.isSlow(sentAt, answeredAt)) continue;
    // Only calls of a caller below the limit now and in the window before: admissions given back since then may still
    // be on their way.
    if (countBetween(calls, i, sentAt - windowMs, answeredAt) > most) continue;
    if (countBetween(calls, i, sentAt - 2 * windowMs, sentAt - windowMs) > most) continue;
    use.judged++;
    if (!refused) continue;
    use.unduly++;
    use.undulyOf[callerName] = (use.undulyOf[callerName] ?? 0) + 1;
  }
}

/** Returns how many calls may have reached the service between the two times. `index`: where the search begins. */
function countBetween(calls: readonly LimitedCall[], index: number, from: number, to: number): number {
  let count = 0;
  for (let i = index; i >= 0 && calls[i]!.sentAt > from - longestCallMs; i--) {
    if (calls[i]!.answeredAt > from && calls[i]!.sentAt <= to) count++;
  }
  for (let i = index + 1; i < calls.length && calls[i]!.sentAt <= to; i++) count++;
  return count;
}

function isDisturbed(records: readonly FaultRecord[], from: number, to: number): boolean {
  return records.some((record) => record.from <= to && record.healedAt >= from);
}
