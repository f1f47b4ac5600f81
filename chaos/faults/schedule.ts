import type { Cluster } from '../cluster/cluster.js';
import { ServiceNode } from '../cluster/service-node.js';
import { now, sleep, within } from '../clock.js';
import type { Ledger } from '../load/ledger.js';
import type { Load } from '../load/load.js';
import type { ModelServer } from '../model/model-server.js';
import type { Random } from '../random.js';
import type { Fleet } from '../workers/fleet.js';
import { WorkerProcess } from '../workers/worker-process.js';
import { databaseFaults } from './database-faults.js';
import type { FaultKind, FaultRecord } from './fault.js';
import { modelFaults } from './model-faults.js';
import { nodeFaults } from './node-faults.js';

export { workerFaults } from './worker-faults.js';
export const serviceFaults: readonly FaultKind[] = [...nodeFaults, ...databaseFaults, ...modelFaults];

/**
 * First in every bag, so that every minute has them: a node that dies, freezes or cannot reach the database, and the
 * same of workers.
 */
const urgent = [
  'node killed',
  'node frozen',
  'node cut off',
  'worker killed',
  'worker frozen',
  'worker cut off',
  'worker doubled',
  'worker slow to beat',
  'worker killed while it uploads',
];

/** At most this many workers are hit at once; the others go on. */
const maxWorkersHit = 3;

const probeEveryMs = 250;
const probePatienceMs = 30_000;

type Hit = ServiceNode | WorkerProcess | 'database' | 'models';

/** Makes faults in a random order that the seed repeats. Every kind comes once before any comes again. */
export class Schedule {
  readonly records: FaultRecord[] = [];
  private bag: FaultKind[] = [];
  private readonly held = new Set<Hit>();
  private active = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly fleet: Fleet,
    private readonly model: ModelServer,
    private readonly load: Load,
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly kinds: readonly FaultKind[],
    /** Between two faults. */
    private readonly pauseMs = { low: 1_500, high: 6_000 },
  ) {}

  /** Makes faults until the deadline, then waits until every fault has healed. */
  async run(deadline: number): Promise<void> {
    while (now() < deadline) {
      await sleep(this.random.between(this.pauseMs.low, this.pauseMs.high));
      if (this.kinds.length === 0) continue;
      const kind = this.next();
      const fault = this.make(kind);
      // Mostly one fault follows another, but some overlap. Faults of workers overlap up to `maxWorkersHit`.
      if (kind.hits === 'one worker') await within(120_000, () => this.held.size < maxWorkersHit);
      else if (!this.random.chance(0.25)) await fault;
    }
    await this.allHealed();
  }

  /** Returns whether any kind of this schedule was asked for. */
  get isWanted(): boolean {
    return this.kinds.length > 0;
  }

  async allHealed(): Promise<void> {
    await within(120_000, () => this.active === 0);
  }

  private next(): FaultKind {
    if (this.bag.length === 0) {
      const shuffled = this.random.shuffle(this.kinds);
      const first = shuffled.filter(({ name }) => urgent.includes(name));
      this.bag = [...first, ...shuffled.filter((kind) => !first.includes(kind))];
    }
    return this.bag.shift()!;
  }

  /** Makes one fault, and resolves once it has healed. */
  async make(kind: FaultKind): Promise<void> {
    this.active++;
    const taken = await this.take(kind);
    const record: FaultRecord = {
      kind: kind.name,
      hits: kind.hits,
      nodes: [],
      from: now(),
      healedAt: Infinity,
      graceMs: kind.graceMs,
      endsStreams: kind.endsStreams ?? false,
      affected: [],
      total: false,
      servedAt: [],
    };
    this.records.push(record);
    // A random stream of its own: the duration of other faults does not change the draws of this one.
    const random = this.random.fork(`${this.records.length}`);
    try {
      const { cluster, fleet, model, load, ledger } = this;
      const violate = ledger.violate.bind(ledger);
      const targets = taken.filter((one) => one instanceof ServiceNode);
      const count = ledger.count.bind(ledger);
      const context = { cluster, fleet, model, load, random, record, targets, violate, count };
      const [worker] = taken.filter((one) => one instanceof WorkerProcess);
      if (kind.hits !== 'one worker') await kind.make(context);
      else if (worker !== undefined) await kind.make({ ...context, worker });
      record.healedAt = now();
    } catch (error) {
      this.ledger.violate('the harness works', `${kind.name}: ${(error as Error).stack}`);
    } finally {
      for (const one of taken) this.held.delete(one);
      this.active--;
    }
    if (kind.hits === 'database') await this.probe(record);
  }

  /** Waits until the target of the fault is free, and occupies it. A single node or worker is drawn here. */
  private async take({ hits }: FaultKind): Promise<Hit[]> {
    let taken: Hit[] = [];
    await within(120_000, () => {
      const all = this.all(hits);
      const free = all.filter((one) => !this.held.has(one));
      const isOne = hits === 'one node' || hits === 'one worker';
      taken = isOne && free.length > 0 ? [this.random.pick(free)] : free;
      return isOne ? free.length > 0 : free.length === all.length;
    });
    for (const one of taken) this.held.add(one);
    return taken;
  }

  private all(hits: FaultKind['hits']): readonly Hit[] {
    if (hits === 'database' || hits === 'models') return [hits];
    return hits === 'one worker' ? this.fleet.workers : this.cluster.nodes;
  }

  /** Records when each node that is up accepts a submission again. */
  private async probe(record: FaultRecord): Promise<void> {
    const nodes = this.cluster.apiNodes.filter((node) => node.isUp);
    await Promise.all(
      nodes.map(async (node) => {
        let servedAt: number | undefined;
        while (servedAt === undefined && node.isUp && now() - record.healedAt < probePatienceMs) {
          // Calls overlap, because a call that hangs must not hide that the next one would be answered.
          const { submitter } = this.load;
          const submission = submitter.plain('chaos/fast', this.cluster.callers.probe, [
            { do: 'answer', ms: 1 },
          ]);
          void submitter.send(submission, node).then(({ entry }) => entry && (servedAt ??= now()));
          await sleep(probeEveryMs);
        }
        if (servedAt !== undefined || node.isUp) record.servedAt.push(servedAt ?? now());
      }),
    );
  }
}
