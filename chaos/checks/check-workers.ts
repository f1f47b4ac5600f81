import { overlaps } from '../clock.js';
import { isOfWorkers } from '../cluster/models-file.js';
import type { FaultRecord } from '../faults/fault.js';
import type { Ledger } from '../load/ledger.js';
import { nonceOf } from '../model/made.js';
import type { Fleet } from '../workers/fleet.js';
import type { WorkRun } from '../workers/work-log.js';
import {
  countedAttempt,
  stepOf,
  type AttemptRow,
  type RequestRow,
  type StoredState,
} from './stored-state.js';

/** Difference between the clocks of processes, and between a claim's commit and the run's first line. */
const slackMs = 50;
/** A lease that ends now may last have been renewed this long ago. */
const leaseMs = 30_000;
/** The lease until the first beat. */
const firstLeaseMs = 9_000;
const lossLimit = 2;

/** Checks that the logs of workers agree with the table of attempts, whatever faults hit the workers. */
export function checkWorkers(
  stored: StoredState,
  fleet: Fleet,
  faultsOfService: readonly FaultRecord[],
  ledger: Ledger,
): void {
  const { log } = fleet;
  for (const row of stored.requests.values()) {
    if (!isOfWorkers(row.modelId)) continue;
    const fail = (rule: string, detail: string): void => ledger.violate(rule, detail, row.id);
    const runs = log.ofRequest(row.id);
    checkHolder(row, runs, fail);
    for (const run of runs) checkAlone(run, row, fleet, ledger, fail);
    checkLosses(row, fail);
    for (const attempt of row.attempts) {
      if (attempt.outcome !== 'lost' || isExplained(attempt, fleet, faultsOfService)) continue;
      const blocked = blockedMs(attempt, row, stored, fleet);
      if (blocked > firstLeaseMs) continue;
      fail(
        'a worker to which nothing happens loses no lease',
        `${JSON.stringify(attempt)}, blocked for ${blocked} ms`,
      );
    }
  }
  ledger.count('runs of workers', log.runs.length);
  const rows = [...stored.requests.values()];
  ledger.count('requests that lost two workers', rows.filter(({ code }) => code === 'worker_lost').length);
  for (const worker of new Set(log.runs.map((run) => run.worker))) {
    ledger.count(`runs of ${worker}`, log.runs.filter((run) => run.worker === worker).length);
  }
}

type Fail = (rule: string, detail: string) => void;

/** The output is of the process that reported it, which ran it under the current lease. */
function checkHolder(row: RequestRow, runs: readonly WorkRun[], fail: Fail): void {
  if (row.outcome !== 'succeeded') return;
  const attempt = row.attempts.at(-1)!;
  const run = runs.find(({ nonce }) => nonce === nonceOf(row.output));
  const sound =
    run !== undefined &&
    run.how === 'answered' &&
    run.worker === attempt.worker &&
    run.nonce.split('.')[2] === String(run.pid) &&
    run.startedAt > attempt.startedAt - slackMs &&
    run.endedAt < attempt.endedAt + slackMs;
  if (sound) return;
  const detail = `${JSON.stringify(attempt)}, but the run ${JSON.stringify(run)}`;
  fail('an output is of the worker that held the lease', detail);
}

/** No run overlaps another attempt that held the lease, unless the run had lost its own. */
function checkAlone(run: WorkRun, row: RequestRow, fleet: Fleet, ledger: Ledger, fail: Fail): void {
  const own = row.attempts.findLastIndex(
    ({ worker, startedAt }, i) =>
      worker === run.worker && startedAt < run.startedAt + slackMs && countedAttempt(row, i) === run.attempt,
  );
  if (own < 0) return fail('every run of a worker has its attempt', JSON.stringify(run));
  checkRefused(run, row.attempts[own]!, ledger, fail);
  const beside = row.attempts.filter(
    ({ startedAt, endedAt }, i) =>
      i > own && overlaps({ from: run.startedAt, to: run.endedAt }, startedAt + slackMs, endedAt - slackMs),
  );
  if (beside.length === 0) return;
  const { outcome, endedAt } = row.attempts[own]!;
  if (outcome === 'lost') return ledger.count('runs of workers that went on without their lease');
  // A worker that leaves hands back all runs under its name.
  if (outcome === 'returned' && fleet.hadTwin(run.worker, endedAt)) {
    return ledger.count('runs of workers whose twin had handed them back');
  }
  const detail = `${JSON.stringify(run)} beside ${JSON.stringify(beside)}, and was ${outcome}`;
  fail('no attempt runs beside another that holds the lease', detail);
}

/** The service refuses the output or failure of a run whose lease was lost. */
function checkRefused(
  { taken }: WorkRun,
  { outcome, endedAt }: AttemptRow,
  ledger: Ledger,
  fail: Fail,
): void {
  if (outcome !== 'lost') return;
  for (const answer of taken.filter(({ at }) => at > endedAt + slackMs)) {
    if (answer.status === 410) ledger.count('late ends of workers refused');
    else if (answer.status < 300)
      fail('the end of a run without its lease is refused', JSON.stringify(answer));
  }
}

function checkLosses({ code, outcome, lost }: RequestRow, fail: Fail): void {
  const detail = `${outcome} ${code}, lost ${lost} times`;
  if (code === 'worker_lost' && lost !== lossLimit) fail('worker_lost is said after two losses', detail);
  const isOver = code === 'worker_lost' || outcome === 'cancelled';
  if (lost > lossLimit || (lost === lossLimit && !isOver)) {
    fail('what has lost two workers is not run again', detail);
  }
}

/** Returns whether a fault of the worker or of the nodes explains a lost renewal. */
function isExplained(
  { worker, startedAt, endedAt }: AttemptRow,
  fleet: Fleet,
  faults: readonly FaultRecord[],
): boolean {
  const from = Math.max(startedAt, endedAt - leaseMs - 10_000);
  return (
    fleet.wasHit(worker ?? '', from, endedAt) ||
    faults.some((record) => overlaps({ from: record.from, to: record.healedAt }, from, endedAt))
  );
}

/**
 * How long runs of the step `block` kept the process from anything else. A run that is not in the log waited for such
 * runs as well, because the answer of its claim comes to a process that does not read it.
 */
function blockedMs(
  { worker, startedAt, endedAt }: AttemptRow,
  { id }: RequestRow,
  stored: StoredState,
  { log }: Fleet,
): number {
  const run = log.ofRequest(id).findLast((one) => one.startedAt < endedAt);
  const blocks = log.during(run ?? { worker }, startedAt, endedAt).filter(({ requestId, attempt }) => {
    const row = stored.requests.get(requestId);
    return row !== undefined && stepOf(row, attempt)?.do === 'block';
  });
  return blocks.reduce((sum, { startedAt: from, endedAt: to }) => sum + to - from, 0);
}
