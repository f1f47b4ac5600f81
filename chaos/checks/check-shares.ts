import { overlaps, type Span } from '../clock.js';
import type { FaultRecord } from '../faults/fault.js';
import type { SharedModel } from '../load/busy-keys.js';
import type { Caller } from '../load/caller.js';
import type { Ledger } from '../load/ledger.js';
import type { Starts } from '../model/run-log.js';
import type { StoredState } from './stored-state.js';

const minuteMs = 60_000;
/** Time from one judged minute to the next: they overlap. */
const stepMs = 5_000;
const leastPart = 1 / 2;

export interface ShareUse {
  modelId: string;
  /** Minutes without a fault in which the keys were fed. */
  minutes: number;
  /** Pairs of a key and a minute in which the key always had work. */
  judged: number;
  /** The smallest part of its share that a key got in a judged minute. */
  least: number;
}

/**
 * Checks that a key that always has work gets at least half of its share of the starts in every minute without a fault.
 */
export function checkShares(
  { requests }: Pick<StoredState, 'requests'>,
  { modelId, callers, starts: log }: SharedModel,
  records: readonly FaultRecord[],
  fed: Span,
  ledger: Ledger,
): ShareUse {
  const starts = log.runs.filter((run) => run.modelId === modelId);
  const minutes = minutesWithoutFault(records, fed);
  const use: ShareUse = { modelId, minutes: minutes.length, judged: 0, least: Infinity };
  for (const caller of callers) {
    const isOwn = (requestId: string): boolean => requests.get(requestId)?.keyId === caller.keyId;
    const own = starts.filter(({ requestId }) => isOwn(requestId));
    const waits = waitsOf(caller, modelId, log, ledger);
    for (const minute of minutes.filter((one) => covers(waits, one))) {
      const share = startsIn(starts, minute) / callers.length;
      const part = startsIn(own, minute) / share;
      use.judged++;
      use.least = Math.min(use.least, part);
      if (part >= leastPart) continue;
      const detail = `${modelId}, ${caller.name}: ${part.toFixed(2)} of ${share} starts from ${Math.round(minute.from)} on`;
      ledger.violate('a key that always has work gets half of its share, at least', detail);
    }
  }
  return use;
}

function minutesWithoutFault(records: readonly FaultRecord[], { from, to }: Span): Span[] {
  const minutes: Span[] = [];
  for (let at = from; at + minuteMs <= to; at += stepMs) minutes.push({ from: at, to: at + minuteMs });
  return minutes.filter(
    (minute) => !records.some((record) => overlaps(minute, record.from, record.healedAt)),
  );
}

/** Returns the times in which requests of the caller waited for the shared model, in order of their beginning. */
function waitsOf(caller: Caller, modelId: string, log: Starts, { accepted }: Ledger): Span[] {
  return [...accepted.values()]
    .filter((entry) => entry.caller === caller && entry.modelId === modelId)
    .map(({ id, acceptedAt }) => ({ from: acceptedAt, to: log.ofRequest(id)[0]?.startedAt ?? Infinity }))
    .sort((a, b) => a.from - b.from);
}

/** Returns whether the spans together cover the whole time. */
function covers(spans: readonly Span[], { from, to }: Span): boolean {
  let until = from;
  for (const span of spans) if (span.from <= until) until = Math.max(until, span.to);
  return until >= to;
}

function startsIn(starts: readonly { startedAt: number }[], { from, to }: Span): number {
  return starts.filter(({ startedAt }) => startedAt >= from && startedAt < to).length;
}
