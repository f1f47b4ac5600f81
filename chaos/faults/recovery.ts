import type { StoredState } from '../checks/stored-state.js';
import { holdsRuns } from '../cluster/models-file.js';
import type { Start, Starts } from '../model/run-log.js';
import type { FaultRecord } from './fault.js';

/** How long after the heal each node that was up accepted a submission again. */
export function servedAfterMs(record: FaultRecord, all: readonly FaultRecord[]): number[] {
  return record.servedAt.map((at) => sinceUnhindered(record, all, record.healedAt, at));
}

/**
 * How long each run that a fault on nodes interrupted waited for its next start. Once its request is back in the queue,
 * the start of another request of its model counts too, because that one goes before it. The time counts from the
 * fault, or from its heal if no node was left. Models that hold their runs are left out, because those wait for the
 * harness.
 */
export function takenUpAfterMs(
  record: FaultRecord,
  all: readonly FaultRecord[],
  starts: Starts,
  stored: StoredState,
): number[] {
  return record.affected.flatMap(({ requestId, at }) => {
    const next = starts.ofRequest(requestId).find(({ startedAt }) => startedAt > at);
    if (next === undefined || holdsRuns(next.modelId)) return [];
    const takenUpAt = Math.min(next.startedAt, startOfAnother(next, at, starts, stored));
    return [sinceUnhindered(record, all, record.total ? record.healedAt : at, takenUpAt)];
  });
}

/** Infinity: there was none, or it is not known that the request was back by then. */
function startOfAnother(
  { requestId, modelId }: Start,
  at: number,
  starts: Starts,
  stored: StoredState,
): number {
  const interrupted = stored.requests
    .get(requestId)
    ?.attempts.find(({ startedAt, endedAt }) => startedAt <= at && endedAt > at);
  if (interrupted === undefined) return Infinity;
  const others = starts.runs.filter((run) => run.modelId === modelId && run.startedAt > interrupted.endedAt);
  return Math.min(...others.map(({ startedAt }) => startedAt));
}

/**
 * The time from `from` to `to` without the time in which another fault stood in the way. A fault of one worker does not
 * count, because there are other workers.
 */
function sinceUnhindered(record: FaultRecord, all: readonly FaultRecord[], from: number, to: number): number {
  const others = all.filter(
    (other) => other !== record && other.hits !== 'one worker' && other.from < to && other.healedAt > from,
  );
  const ends = others.map(({ healedAt }) => Math.min(healedAt, to));
  return Math.max(0, to - Math.max(from, ...ends));
}
