import type { RunBook } from '../model/run-book.js';
import type { FaultRecord } from './fault.js';

/** How long each node that was up took to accept a submission again, from the heal on. */
export function servedAfterMs(record: FaultRecord, all: readonly FaultRecord[]): number[] {
  return record.servedAt.map((at) => sinceUnhindered(record, all, record.healedAt, at));
}

/**
 * How long each run that a fault on nodes interrupted waited for its next start: from the fault on, or from its heal
 * if no node was left.
 */
export function takenUpAfterMs(record: FaultRecord, all: readonly FaultRecord[], book: RunBook): number[] {
  return record.affected.flatMap(({ requestId, at }) => {
    const next = book.ofRequest(requestId).find(({ startedAt }) => startedAt > at);
    if (next === undefined) return [];
    return [sinceUnhindered(record, all, record.total ? record.healedAt : at, next.startedAt)];
  });
}

/** The same, less the time in which another fault stood in the way. */
function sinceUnhindered(record: FaultRecord, all: readonly FaultRecord[], from: number, to: number): number {
  const others = all.filter((other) => other !== record && other.from < to && other.healedAt > from);
  const ends = others.map(({ healedAt }) => Math.min(healedAt, to));
  return Math.max(0, to - Math.max(from, ...ends));
}

/** Whether no other fault overlapped the fault and its recovery. */
export function wasAlone(record: FaultRecord, all: readonly FaultRecord[], recoveryMs: number): boolean {
  const until = record.healedAt + recoveryMs;
  return all.every((other) => other === record || other.from > until || other.healedAt < record.from);
}
