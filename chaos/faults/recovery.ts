import type { RunBook } from '../model/run-book.js';
import type { FaultRecord } from './fault.js';

/**
 * How long each run that a fault on nodes interrupted waited for its next start: from the fault on; from its heal,
 * if no node was left; from the end of the last other fault that stood in the way in between.
 */
export function takenUpAfterMs(record: FaultRecord, all: readonly FaultRecord[], book: RunBook): number[] {
  return record.affected.flatMap((requestId) => {
    const next = book.ofRequest(requestId).find(({ startedAt }) => startedAt > record.from);
    if (next === undefined) return [];
    const ends = all
      .filter((other) => other !== record && other.from < next.startedAt && other.healedAt > record.from)
      .map(({ healedAt }) => healedAt);
    const hindered = ends.some((end) => end > next.startedAt);
    const begin = record.total ? record.healedAt : record.from;
    const from = hindered ? next.startedAt : Math.max(begin, ...ends);
    return [Math.max(0, next.startedAt - from)];
  });
}

/** Whether no other fault overlapped the fault and its recovery. */
export function wasAlone(record: FaultRecord, all: readonly FaultRecord[], recoveryMs: number): boolean {
  const until = record.healedAt + recoveryMs;
  return all.every((other) => other === record || other.from > until || other.healedAt < record.from);
}
