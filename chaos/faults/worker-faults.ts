import { now, sleep, within } from '../clock.js';
import type { ProxyDeed } from '../cluster/proxy-thread.js';
import type { Random } from '../random.js';
import { markWorker, type WorkerFaultKind } from './fault.js';

/** Longer than the lease of a worker, 30 s, plus the time until a rescuer finds it expired. */
const beyondLeaseMs = { low: 34_000, high: 42_000 };
const uploadPatienceMs = 15_000;
/** Submitted at once, so that one reaches the worker that is to die during it. */
const drawings = 12;

const anyMs = (random: Random, { low, high }: { low: number; high: number }): number =>
  random.between(low, high);

/** A fault that treats the worker's connections to all nodes this way for a while. */
function onItsWay(name: string, deed: ProxyDeed, ms: { low: number; high: number }): WorkerFaultKind {
  return {
    name,
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker, random } = context;
      markWorker(context);
      const cut = { from: now(), to: Infinity };
      worker.cuts.push(cut);
      await worker.options.proxy.make(deed);
      await sleep(anyMs(random, ms));
      await worker.options.proxy.make('heal');
      cut.to = now();
    },
  };
}

function frozen(name: string, ms: { low: number; high: number }): WorkerFaultKind {
  return {
    name,
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker, random } = context;
      markWorker(context);
      worker.freeze();
      await sleep(anyMs(random, ms));
      worker.thaw();
    },
  };
}

export const workerFaults: readonly WorkerFaultKind[] = [
  {
    name: 'worker killed',
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker, random } = context;
      markWorker(context);
      await worker.kill();
      await sleep(random.between(0, 5_000));
      worker.start();
    },
  },
  {
    name: 'worker killed while it uploads',
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker, random, fleet, load } = context;
      const isUploading = (): boolean => {
        fleet.log.refresh();
        return fleet.log
          .active(worker.name)
          .some(({ uploadingAt, file }) => uploadingAt !== undefined && file === undefined);
      };
      const slow = { from: now(), to: Infinity };
      worker.cuts.push(slow);
      await worker.options.proxy.make('slowDown');
      for (let n = 0; n < drawings; n++) {
        load.track('submits a drawing', load.submitAndWatch('chaos/drawing'));
      }
      if (!(await within(uploadPatienceMs, isUploading)))
        context.count('no upload came to a worker that was to die');
      else {
        await sleep(random.between(0, 500));
        if (isUploading()) context.count('workers killed in the middle of an upload');
      }
      markWorker(context);
      await worker.kill();
      await worker.options.proxy.make('heal');
      slow.to = now();
      await sleep(random.between(0, 5_000));
      worker.start();
    },
  },
  {
    name: 'worker stopped',
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker } = context;
      markWorker(context);
      if (!(await worker.stop()))
        context.violate('a worker stops in order', `${worker.name} had to be killed`);
      worker.start();
    },
  },
  {
    name: 'worker doubled',
    hits: 'one worker',
    graceMs: null,
    async make(context) {
      const { worker, random, fleet } = context;
      markWorker(context);
      const twin = await fleet.twinOf(worker);
      twin.start();
      await sleep(random.between(8_000, 20_000));
      if (random.chance(0.5)) await twin.stop();
      else await twin.kill();
      twin.retire();
    },
  },
  frozen('worker frozen', beyondLeaseMs),
  frozen('worker slow to beat', { low: 4_000, high: 15_000 }),
  onItsWay('worker cut off', 'hang', beyondLeaseMs),
  onItsWay('connections of a worker refused', 'refuse', beyondLeaseMs),
  onItsWay('idle connections of a worker cut', 'beImpatient', { low: 10_000, high: 25_000 }),
  onItsWay('answers to a worker lost', 'replaceAnswers', { low: 8_000, high: 20_000 }),
];
