import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now, sleep, within } from '../clock.js';
import type { Ledger } from '../load/ledger.js';
import type { Load } from '../load/load.js';
import type { ModelServer } from '../model/model-server.js';
import type { Random } from '../random.js';
import { databaseFaults } from './database-faults.js';
import type { FaultKind, FaultRecord } from './fault.js';
import { modelFaults } from './model-faults.js';
import { nodeFaults } from './node-faults.js';

export const faultKinds: readonly FaultKind[] = [...nodeFaults, ...databaseFaults, ...modelFaults];

/** First in every bag, so that every minute has them: a node that dies, stands still, or cannot reach the database. */
const urgent = ['node killed', 'node frozen', 'node cut off'];

const probeEveryMs = 250;
const probePatienceMs = 30_000;

/** Makes faults in a random order that the seed repeats: every kind once before any comes again. */
export class Schedule {
  readonly records: FaultRecord[] = [];
  private bag: FaultKind[] = [];
  private readonly held = new Set<ServiceNode | 'database' | 'models'>();
  private active = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly model: ModelServer,
    private readonly load: Load,
    private readonly ledger: Ledger,
    private readonly random: Random,
    private readonly kinds: readonly FaultKind[],
  ) {}

  /** Goes on until the deadline, and until every fault has healed. */
  async run(deadline: number): Promise<void> {
    while (now() < deadline) {
      await sleep(this.random.between(1_500, 6_000));
      const fault = this.make(this.next());
      // Mostly one after the other, at times one into the other.
      if (!this.random.chance(0.25)) await fault;
    }
    await this.allHealed();
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

  private async make(kind: FaultKind): Promise<void> {
    this.active++;
    const targets = await this.take(kind);
    const record: FaultRecord = {
      kind: kind.name,
      nodes: [],
      from: now(),
      healedAt: Infinity,
      graceMs: kind.graceMs,
      affected: [],
      total: false,
      servedAt: [],
    };
    this.records.push(record);
    // Its own stream: how long others take does not change what this one draws.
    const random = this.random.fork(`${this.records.length}`);
    try {
      const { cluster, model, ledger } = this;
      const { runs } = model;
      const violate = ledger.violate.bind(ledger);
      await kind.make({ cluster, model, runs, random, record, targets, violate });
      record.healedAt = now();
    } catch (error) {
      this.ledger.violate('the harness works', `${kind.name}: ${(error as Error).stack}`);
    } finally {
      if (kind.hits === 'database' || kind.hits === 'models') this.held.delete(kind.hits);
      for (const node of targets) this.held.delete(node);
      this.active--;
    }
    if (kind.hits === 'database') await this.probe(record);
  }

  /** Waits until what the fault hits is free, and takes it. A single node is drawn here. */
  private async take({ hits }: FaultKind): Promise<ServiceNode[]> {
    let targets: ServiceNode[] = [];
    await within(120_000, () => {
      if (hits === 'database' || hits === 'models') return !this.held.has(hits);
      const free = this.cluster.nodes.filter((node) => !this.held.has(node));
      targets = hits === 'one node' && free.length > 0 ? [this.random.pick(free)] : free;
      return hits === 'one node' ? free.length > 0 : free.length === this.cluster.nodes.length;
    });
    if (hits === 'database' || hits === 'models') this.held.add(hits);
    for (const node of targets) this.held.add(node);
    return targets;
  }

  /** When does each node that is up accept a submission again? */
  private async probe(record: FaultRecord): Promise<void> {
    const nodes = this.cluster.apiNodes.filter((node) => node.isUp);
    await Promise.all(
      nodes.map(async (node) => {
        let servedAt: number | undefined;
        while (servedAt === undefined && node.isUp && now() - record.healedAt < probePatienceMs) {
          // Not one after the other: one that hangs must not hide that the next would be answered.
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
