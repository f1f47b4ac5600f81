import { overlaps } from '../clock.js';
import { isOfWorkers } from '../cluster/models-file.js';
import type { FaultRecord } from '../faults/fault.js';
import type { Entry, Ledger } from '../load/ledger.js';
import type { Pace } from '../load/pace.js';
import type { Fleet } from '../workers/fleet.js';
import type { WorkRun } from '../workers/work-log.js';
import { stepOf, type StoredState } from './stored-state.js';

/** A beat waits for 10 s at most, and the next one reports the cancel again. */
const latestMs = 12_000;
const medianMs = 500;
/** With fewer cancels the median is not judged. */
const minJudged = 8;
const around = { beforeMs: 12_000, afterMs: 1_000 };

export interface CancelUse {
  /** Cancels of runs of workers while nothing was in the way. */
  judged: number;
  medianMs: number;
  worstMs: number;
}

/** A worker learns soon that its run is cancelled. */
export function checkCancels(
  stored: StoredState,
  fleet: Fleet,
  faultsOfService: readonly FaultRecord[],
  pace: Pace,
  ledger: Ledger,
): CancelUse {
  const delays: number[] = [];
  for (const entry of ledger.accepted.values()) {
    if (entry.cancel !== 'CANCELLATION_REQUESTED' || !isOfWorkers(entry.modelId)) continue;
    const at = entry.cancelledAt!;
    const run = runningAt(entry, fleet, at);
    if (run === undefined || isBlocked(run, at) || isDisturbed(run, at)) continue;
    if (run.told !== undefined) delays.push(Math.max(0, run.told.at - at));
    const end = run.told?.at ?? run.endedAt;
    if (end < at + latestMs) continue;
    const detail = `cancelled at ${Math.round(at)}: ${JSON.stringify(run)}`;
    ledger.violate('a worker is told that its run is cancelled', detail, entry.id);
  }
  delays.sort((a, b) => a - b);
  const use = {
    judged: delays.length,
    medianMs: delays[delays.length >> 1] ?? 0,
    worstMs: delays.at(-1) ?? 0,
  };
  if (use.judged >= minJudged && use.medianMs > medianMs) {
    ledger.violate('a worker is told of a cancel within 0.5 s, mostly', JSON.stringify(use));
  }
  return use;

  /** A blocked process cannot learn of a cancel. */
  function isBlocked(run: WorkRun, at: number): boolean {
    return fleet.log.during(run, at, at + latestMs).some(({ requestId, attempt }) => {
      const row = stored.requests.get(requestId);
      return row !== undefined && stepOf(row, attempt)?.do === 'block';
    });
  }

  function isDisturbed({ worker }: WorkRun, at: number): boolean {
    const from = at - around.beforeMs;
    const to = at + around.afterMs;
    return (
      fleet.wasHit(worker, from, to) ||
      fleet.hadTwin(worker, at) ||
      pace.isSlow(at, to) ||
      faultsOfService.some((record) => overlaps({ from: record.from, to: record.healedAt }, from, to))
    );
  }
}

function runningAt({ id }: Entry, { log }: Fleet, at: number): WorkRun | undefined {
  return log.ofRequest(id).find(({ startedAt, endedAt }) => startedAt < at && endedAt > at);
}
