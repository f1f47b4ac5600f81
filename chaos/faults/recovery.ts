import type { Starts } from '../model/run-log.js';
import type { FaultRecord } from './fault.js';

/** How long each node that was up took to accept a submission again, from the heal on. */
export function servedAfterMs(record: FaultRecord, all: readonly FaultRecord[]): number[] {
  return record.servedAt.map((at) => sinceUnhindered(record, all, record.healedAt, at));
}

/**
 * How long each run that a fault on nodes interrupted waited for its next start: from the fault on, or from its heal
 * if no node was left. Models that hold their runs are left out: those wait for the harness.
 */
export function takenUpAfterMs(record: FaultRecord, all: readonly FaultRecord[], runs: Starts): number[] {
  return record.affected.flatMap(({ requestId, at }) => {
    const next = runs.ofRequest(requestId).find(({ startedAt }) => startedAt > at);
    if (next === undefined || next.modelId.startsWith('chaos/held')) return [];
    return [sinceUnhindered(record, all, record.total ? record.healedAt : at, next.startedAt)];
  });
}

/** The same, less the time in which another fault stood in the way. One worker is in nobody's way: there are others. */
function sinceUnhindered(record: FaultRecord, all: readonly FaultRecord[], from: number, to: number): number {
  const others = all.filter(
    (other) => other !== record && other.hits !== 'one worker' && other.from < to && other.healedAt > from,
  );
  const ends = others.map(({ healedAt }) => Math.min(healedAt, to));
  return Math.max(0, to - Math.max(from, ...ends));
}
