import { faultRows } from './fault-table.js';
import { checkBursts } from './checks/check-bursts.js';
import { checkCalm } from './checks/check-calm.js';
import { checkCancels } from './checks/check-cancels.js';
import { checkConcurrency, checkLeases } from './checks/check-concurrency.js';
import { FileCheck } from './checks/check-files.js';
import { checkFollowed } from './checks/check-followed.js';
import { checkIdempotency } from './checks/check-idempotency.js';
import { checkLimits } from './checks/check-limits.js';
import { checkLogs } from './checks/check-logs.js';
import { checkOutputs } from './checks/check-outputs.js';
import { checkRecovery, checkWorkersRecovery } from './checks/check-recovery.js';
import { checkRequests } from './checks/check-requests.js';
import { checkRevocations } from './checks/check-revocations.js';
import { checkShares } from './checks/check-shares.js';
import { checkWebhooks } from './checks/check-webhooks.js';
import { checkWorkers } from './checks/check-workers.js';
import { readStoredState, type StoredState } from './checks/stored-state.js';
import type { Span } from './clock.js';
import type { Cluster } from './cluster/cluster.js';
import type { GrantHistory } from './cluster/grant-history.js';
import type { Schedule } from './faults/schedule.js';
import type { Bursts } from './load/bursts.js';
import type { SharedModel } from './load/busy-keys.js';
import type { AuditedQueue } from './load/held-queue.js';
import type { KeyRevoker } from './load/key-revoker.js';
import type { Ledger } from './load/ledger.js';
import type { Load } from './load/load.js';
import type { BusySpells } from './load/busy-spells.js';
import type { Pace } from './load/pace.js';
import type { ModelServer } from './model/model-server.js';
import type { WebhookReceiver } from './model/webhook-receiver.js';
import type { Options } from './options.js';
import type { Random } from './random.js';
import { type Result, type Sources } from './results.js';
import type { Fleet } from './workers/fleet.js';

/** Everything that took part in a run. */
export interface Surroundings {
  options: Options;
  sources: Sources;
  date: string;
  random: Random;
  cluster: Cluster;
  fleet: Fleet;
  model: ModelServer;
  receiver: WebhookReceiver;
  ledger: Ledger;
  load: Load;
  bursts: Bursts;
  queues: readonly AuditedQueue[];
  revoker: KeyRevoker;
  shared: readonly SharedModel[];
  /** Faults of the service: its nodes, its database, its models. */
  faults: Schedule;
  workerFaults: Schedule;
  grants: GrantHistory;
  pace: Pace;
  spells: BusySpells;
  /** The time in which keys always had work. */
  fed: Span;
}

/** Compares what callers sent and were answered, what models and workers recorded, and what is stored. */
export async function reconcile(all: Surroundings): Promise<{ stored: StoredState; result: Result }> {
  const { options, cluster, fleet, model, ledger, load, pace, fed } = all;
  const { records } = all.faults;
  const ofWorkers = all.workerFaults.records;
  checkDrawn(all);
  fleet.log.refresh();
  const stored = await readStoredState(cluster);
  checkRequests(stored, ledger, model.runs, fleet.log);
  checkLogs(stored, ledger, model.runs, fleet.log);
  checkIdempotency(stored, ledger);
  await checkWebhooks(cluster, stored, all.receiver.calls, ledger);
  checkBursts(all.bursts.records, ledger);
  checkWorkers(stored, fleet, records, ledger);
  checkOutputs(stored, ledger);
  checkFollowed(stored, model.followed, ledger);
  await new FileCheck(cluster, all.random.fork('files'), records, ledger).run(stored, model.runs, fleet.log);
  const cancels = checkCancels(stored, fleet, records, pace, ledger);
  const limits = checkLimits(cluster.callers.all, records, pace, ledger);
  const everyFault = [...records, ...ofWorkers];
  const shares = all.shared.map((shared) => checkShares(stored, shared, everyFault, fed, ledger));
  checkRecovery(records, model.runs, stored, ledger);
  checkWorkersRecovery(ofWorkers, records, fleet.log, stored, ledger);
  const lateInSlowMoments = checkCalm(ledger, records, cluster.nodes, pace);
  const servedAfterRevocationMs = checkRevocations(all.revoker.revocations, records, ledger);
  const peaks = checkConcurrency(model.runs, cluster.nodes, all.grants, all.spells, ledger);
  peaks.push(...checkLeases(stored, ledger));
  const { seconds, seed, processes, pgbouncer, scene, only } = options;
  const rows = faultRows(records, ledger, stored, model.runs, records);
  rows.push(...faultRows(ofWorkers, ledger, stored, fleet.log, records));
  const result: Result = {
    date: all.date,
    ...all.sources,
    node: process.version,
    options: { seconds, seed, processes, pgbouncer, scene, only },
    requests: stored.requests.size,
    runs: model.runs.runs.length,
    runsOfWorkers: fleet.log.runs.length,
    faults: records.length,
    faultsOfWorkers: ofWorkers.length,
    worstCallMs: load.client.worstMs,
    positionsExactAfterMs: all.queues.flatMap(({ exactAfterMs }) => exactAfterMs),
    servedAfterRevocationMs,
    bursts: all.bursts.records,
    limits,
    shares,
    cancels,
    slowMoments: pace.slow.length,
    lateInSlowMoments,
    peaks,
    faultRows: rows,
    counts: Object.fromEntries([...ledger.counts].sort(([a], [b]) => a.localeCompare(b))),
    violations: ledger.violations,
  };
  return { stored, result };
}

/** A run in which nothing was broken proves nothing. */
function checkDrawn({ faults, workerFaults, ledger }: Surroundings): void {
  if (faults.records.length + workerFaults.records.length === 0) {
    ledger.violate('a run has faults in it', 'none was made');
  }
  if (workerFaults.isWanted && workerFaults.records.length === 0) {
    ledger.violate('a run has faults of workers in it', 'none was made');
  }
}
