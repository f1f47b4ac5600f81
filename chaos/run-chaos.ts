import { checkViews } from './checks/check-views.js';
import { now, sleep, within } from './clock.js';
import { Cluster } from './cluster/cluster.js';
import { GrantHistory } from './cluster/grant-history.js';
import type { FaultKind } from './faults/fault.js';
import { Schedule, serviceFaults, workerFaults } from './faults/schedule.js';
import { Bursts } from './load/bursts.js';
import { BusySpells } from './load/busy-spells.js';
import { BusyKeys, type SharedModel } from './load/busy-keys.js';
import { DeepQueue } from './load/deep-queue.js';
import { HeldQueue } from './load/held-queue.js';
import { KeyRevoker } from './load/key-revoker.js';
import { Ledger } from './load/ledger.js';
import { Load } from './load/load.js';
import { Pace } from './load/pace.js';
import { ModelServer } from './model/model-server.js';
import { WebhookReceiver } from './model/webhook-receiver.js';
import type { Options } from './options.js';
import { Random } from './random.js';
import { reconcile } from './reconcile.js';
import { burstText, report } from './report.js';
import type { Result, Sources } from './results.js';
import { type Scene, scenes } from './scenes.js';
import { stopOnSignals } from './stop-on-signals.js';
import { Fleet } from './workers/fleet.js';

/** Time between two checks of the positions, for which faults pause. */
const roundMs = 60_000;
/** The time without faults at the end, including some time until the keys that take turns have work again. */
const calmMs = 70_000;
const drainMs = 150_000;
/** After a crash a caller may be refused for a minute. Until then it submits, and then it watches. */
const finishMs = 150_000;

/** Starts, breaks, heals, drains, reconciles and reports. */
export async function runChaos(
  options: Options,
  sources: Sources,
  print: (text: string) => void,
): Promise<Result> {
  const date = new Date().toISOString();
  const random = new Random(String(options.seed));
  const ledger = new Ledger();
  const model = new ModelServer();
  const receiver = new WebhookReceiver(random.fork('receiver'));
  const scene = scenes[options.scene];
  const cluster = new Cluster(
    options.processes,
    options.pgbouncer,
    random.fork('cluster'),
    scene?.conditions,
  );
  let fleet: Fleet | undefined;
  const stopped = stopOnSignals(async () => {
    await fleet?.stop();
    const keep = options.keep || ledger.violations.length > 0;
    await cluster.stop(keep);
    if (keep) print(`logs and tables: ${cluster.directory}`);
  });
  try {
    await model.start();
    await receiver.start();
    await cluster.start(model.url);
    for (const node of cluster.nodes) {
      node.onUnexpectedExit = (output) =>
        ledger.violate('no process ends by itself', `${node.name}: ${output}`);
    }
    fleet = new Fleet(cluster, ledger);
    await fleet.start();
    const load = new Load(cluster, ledger, receiver, random);
    receiver.hasAway = scene?.hasAwayReceivers ?? false;
    const held = ['chaos/held', 'chaos/held-work'].map(
      (modelId) => new HeldQueue(cluster, load.client, load.submitter, ledger, random.fork(modelId), modelId),
    );
    const deep =
      scene?.hasDeepQueue === true
        ? new DeepQueue(cluster, load.client, load.submitter, model, ledger, random.fork('deep'))
        : undefined;
    // A held request of the first day would keep that day's partitions.
    const queues = [...(scene?.lastFault === undefined ? held : []), ...(deep === undefined ? [] : [deep])];
    const bursts = new Bursts(cluster, load, random.fork('bursts'));
    const revoker = new KeyRevoker(cluster, load.client, random.fork('revoker'));
    const scheduleOf = (name: string, kinds: readonly FaultKind[], pauseMs?: Scene['pauseMs']): Schedule =>
      new Schedule(cluster, fleet!, model, load, ledger, random.fork(name), asked(kinds, options), pauseMs);
    const faults = scheduleOf('faults', scene?.faults ?? serviceFaults, scene?.pauseMs);
    const faultsOfWorkers = scheduleOf('faults of workers', scene === undefined ? workerFaults : []);

    const grants = new GrantHistory(cluster.postgres);
    void grants.watch();
    const pace = new Pace(cluster.postgres);
    void pace.watch();
    const spells = new BusySpells();
    spells.watch();
    load.start();
    const fed = { from: now(), to: Infinity };
    let leftMs = options.seconds * 1_000;
    load.track(
      'revokes keys',
      revoker.run(() => leftMs > 0),
    );
    const { busy, busyWithWorkers } = cluster.callers;
    const shared: SharedModel[] = [
      { modelId: 'chaos/shared', callers: busy, starts: model.runs },
      { modelId: 'chaos/team', callers: busyWithWorkers, starts: fleet.log },
    ];
    for (const one of shared) {
      const busyKeys = new BusyKeys(one, load.submitter, random.fork(`busy with ${one.modelId}`));
      load.track(
        'always has work',
        busyKeys.run(() => fed.to === Infinity),
      );
    }
    for (; leftMs > 0; leftMs -= roundMs) {
      for (const queue of queues) await queue.fill();
      print(burstText(await bursts.run(true)));
      const until = now() + Math.min(leftMs, roundMs);
      await Promise.all([faults.run(until), faultsOfWorkers.run(until), bursts.runUntil(until)]);
      for (const queue of queues) await queue.audit();
      await checkViews(cluster, ledger);
      release(model, fleet);
      const made = `${faults.records.length} faults and ${faultsOfWorkers.records.length} of workers`;
      print(
        `${Math.max(0, (leftMs - roundMs) / 1_000)} s to go, ${made}, ${ledger.accepted.size} accepted, ${ledger.violations.length} violations`,
      );
    }
    await sleep(calmMs);
    fed.to = now();
    load.stopSubmitting();
    grants.stop();
    pace.stop();
    await deep?.empty();
    const lastFault = scene?.lastFault;
    await drain(cluster, model, fleet, { withDeliveries: lastFault === undefined });
    if (lastFault !== undefined) await faults.make(lastFault);
    const unfinished = await load.finish(finishMs);
    if (unfinished.length > 0)
      ledger.violate('every caller sees the end of its request', unfinished.slice(0, 20).join('; '));
    await drain(cluster, model, fleet, { withDeliveries: true });
    spells.stop();
    await checkViews(cluster, ledger);

    const { stored, result } = await reconcile({
      options,
      sources,
      date,
      random,
      cluster,
      fleet,
      model,
      receiver,
      ledger,
      load,
      bursts,
      queues,
      revoker,
      shared,
      faults,
      workerFaults: faultsOfWorkers,
      grants,
      pace,
      spells,
      fed,
    });
    const records = [...faults.records, ...faultsOfWorkers.records].sort((a, b) => a.from - b.from);
    print(report({ cluster, stored, ledger, records, result }));
    return result;
  } finally {
    await stopped();
    await model.stop();
    await receiver.stop();
  }
}

/**
 * Waits until nothing waits, nothing runs and, if asked for, every webhook is delivered. The checks find rows that are left after
 * that.
 */
async function drain(
  cluster: Cluster,
  model: ModelServer,
  fleet: Fleet,
  { withDeliveries }: { withDeliveries: boolean },
): Promise<void> {
  await within(drainMs, async () => {
    release(model, fleet);
    const [left] = await cluster.postgres.query<{ rows: number }>(
      `SELECT ((SELECT count(*) FROM queue_entry) + (SELECT count(*) FROM delayed_entry)
               + (SELECT count(*) FROM lease)
               + (SELECT count(*) FROM webhook_delivery WHERE state = 'pending' AND $1))::integer AS rows`,
      [withDeliveries],
    );
    if (left!.rows > 0) await sleep(400);
    return left!.rows === 0;
  });
}

/** Lets held runs end. */
function release(model: ModelServer, fleet: Fleet): void {
  model.release();
  fleet.release();
}

function asked(kinds: readonly FaultKind[], { only }: Options): FaultKind[] {
  return kinds.filter(({ name }) => only.length === 0 || only.includes(name));
}
