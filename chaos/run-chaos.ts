import { faultRows } from './fault-table.js';
import { checkBursts } from './checks/check-bursts.js';
import { checkCalm } from './checks/check-calm.js';
import { checkConcurrency } from './checks/check-concurrency.js';
import { checkIdempotency } from './checks/check-idempotency.js';
import { checkLimits } from './checks/check-limits.js';
import { checkLogs } from './checks/check-logs.js';
import { checkRecovery } from './checks/check-recovery.js';
import { checkRequests } from './checks/check-requests.js';
import { checkRevocations } from './checks/check-revocations.js';
import { checkShares } from './checks/check-shares.js';
import { checkViews } from './checks/check-views.js';
import { checkWebhooks } from './checks/check-webhooks.js';
import { readStoredState } from './checks/stored-state.js';
import { now, sleep, within } from './clock.js';
import { Cluster } from './cluster/cluster.js';
import { GrantHistory } from './cluster/grant-history.js';
import { faultKinds, Schedule } from './faults/schedule.js';
import { Bursts } from './load/bursts.js';
import { BusyKeys } from './load/busy-keys.js';
import { HeldQueue } from './load/held-queue.js';
import { KeyRevoker } from './load/key-revoker.js';
import { Ledger } from './load/ledger.js';
import { Load } from './load/load.js';
import { Pace } from './load/pace.js';
import { ModelServer } from './model/model-server.js';
import { WebhookReceiver } from './model/webhook-receiver.js';
import type { Options } from './options.js';
import { Random } from './random.js';
import { burstText, report } from './report.js';
import { commitHere, type Result } from './results.js';

/** Between two looks at the positions, for which faults pause. */
const roundMs = 60_000;
/** At the end of the faults, with some time for the keys that take turns to have work again. */
const calmMs = 70_000;
const drainMs = 150_000;
/** After a crash a caller may be refused for a minute; until then it submits, and then it watches. */
const finishMs = 150_000;

/** Start, break, heal, drain, reconcile, report. */
export async function runChaos(options: Options, print: (text: string) => void): Promise<Result> {
  const date = new Date().toISOString();
  const random = new Random(String(options.seed));
  const ledger = new Ledger();
  const model = new ModelServer();
  const receiver = new WebhookReceiver(random.fork('receiver'));
  const cluster = new Cluster(options.processes, options.pgbouncer, random.fork('cluster'));
  const stopped = stopOnSignals(() => cluster.stop(options.keep));
  try {
    await model.start();
    await receiver.start();
    await cluster.start(model.url);
    for (const node of cluster.nodes) {
      node.onUnexpectedExit = (output) =>
        ledger.violate('no process ends by itself', `${node.name}: ${output}`);
    }
    const load = new Load(cluster, ledger, receiver, random);
    const queue = new HeldQueue(cluster, load.client, load.submitter, ledger, random.fork('held'));
    const bursts = new Bursts(cluster, load, random.fork('bursts'));
    const revoker = new KeyRevoker(cluster, load.client, random.fork('revoker'));
    const kinds = faultKinds.filter(({ name }) => options.only.length === 0 || options.only.includes(name));
    const schedule = new Schedule(cluster, model, load, ledger, random.fork('faults'), kinds);

    const grants = new GrantHistory(cluster.postgres);
    void grants.watch();
    const pace = new Pace(cluster.postgres);
    void pace.watch();
    load.start();
    const fed = { from: now(), to: Infinity };
    let leftMs = options.seconds * 1_000;
    load.track(
      'revokes keys',
      revoker.run(() => leftMs > 0),
    );
    const busyKeys = new BusyKeys(cluster, load.submitter, model.runs, random.fork('busy'));
    load.track(
      'always has work',
      busyKeys.run(() => fed.to === Infinity),
    );
    for (; leftMs > 0; leftMs -= roundMs) {
      await queue.fill();
      print(burstText(await bursts.run(true)));
      const until = now() + Math.min(leftMs, roundMs);
      await Promise.all([schedule.run(until), bursts.runUntil(until)]);
      await queue.audit();
      await checkViews(cluster, ledger);
      model.release();
      print(
        `${Math.max(0, (leftMs - roundMs) / 1_000)} s to go, ${schedule.records.length} faults, ${ledger.accepted.size} accepted, ${ledger.violations.length} violations`,
      );
    }
    await sleep(calmMs);
    fed.to = now();
    load.stopSubmitting();
    grants.stop();
    pace.stop();
    await drain(cluster, model);
    const unfinished = await load.finish(finishMs);
    if (unfinished.length > 0)
      ledger.violate('every caller sees the end of its request', unfinished.slice(0, 20).join('; '));
    await drain(cluster, model);
    await checkViews(cluster, ledger);

    const { records } = schedule;
    if (records.length === 0) ledger.violate('a run has faults in it', 'none was made');
    const stored = await readStoredState(cluster);
    checkRequests(stored, ledger, model.runs);
    checkLogs(stored, ledger, model.runs);
    checkIdempotency(stored, ledger);
    await checkWebhooks(cluster, stored, receiver.calls, ledger);
    checkBursts(bursts.records, ledger);
    const limits = checkLimits(cluster.callers.all, records, pace, ledger);
    const shares = checkShares(stored, cluster.callers.busy, model.runs, records, fed, ledger);
    checkRecovery(records, model.runs, ledger);
    checkCalm(ledger, records, cluster.nodes);
    const servedAfterRevocationMs = checkRevocations(revoker.revocations, records, ledger);
    const peaks = checkConcurrency(model.runs, cluster.nodes, grants, ledger);
    const { seconds, seed, processes, pgbouncer, only } = options;
    const result: Result = {
      date,
      commit: commitHere(),
      options: { seconds, seed, processes, pgbouncer, only },
      requests: stored.requests.size,
      runs: model.runs.runs.length,
      faults: records.length,
      worstCallMs: load.client.worstMs,
      positionsExactAfterMs: queue.exactAfterMs,
      servedAfterRevocationMs,
      bursts: bursts.records,
      limits,
      shares,
      slowMoments: pace.slow.length,
      peaks,
      faultRows: faultRows(records, ledger, stored, model.runs),
      counts: Object.fromEntries([...ledger.counts].sort(([a], [b]) => a.localeCompare(b))),
      violations: ledger.violations,
    };
    print(report({ cluster, stored, ledger, records, result }));
    return result;
  } finally {
    await stopped();
    await model.stop();
    await receiver.stop();
  }
}

/** Until nothing waits, nothing runs and every webhook is delivered; what is left after that is found in the tables. */
async function drain(cluster: Cluster, model: ModelServer): Promise<void> {
  await within(drainMs, async () => {
    model.release();
    const [left] = await cluster.postgres.query<{ rows: number }>(
      `SELECT ((SELECT count(*) FROM queue_entry) + (SELECT count(*) FROM delayed_entry)
               + (SELECT count(*) FROM lease)
               + (SELECT count(*) FROM webhook_delivery WHERE state = 'pending'))::integer AS rows`,
    );
    if (left!.rows > 0) await sleep(400);
    return left!.rows === 0;
  });
}

/** Cleans up once, whether the run ends or is interrupted. */
function stopOnSignals(stop: () => Promise<void>): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  const stopOnce = (): Promise<void> => (stopping ??= stop());
  const interrupted = (): void => void stopOnce().finally(() => process.exit(130));
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  return async () => {
    await stopOnce();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  };
}
