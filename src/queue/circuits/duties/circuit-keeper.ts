import { Injectable } from '@nestjs/common';
import { Clock } from '../../../database/clock.js';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { Circuits } from '../circuits.js';
import { ModelAvailability } from '../model-availability.js';
import { Cluster } from '../../cluster/cluster.js';
import { readCircuits, writeCircuits } from '../queries/circuits.js';
import { type CircuitChange, type NextProbe, QueueEvents } from '../../queue-events.js';

/** A probe that ends sooner is not written. */
const probingMs = 500;

/** Writes which models this node cannot reach, for the other nodes, and reads the same of all nodes. */
@Injectable()
export class CircuitKeeper extends Duty {
  protected readonly intervalMs = 60_000;
  protected override readonly firstWithinMs = 0;
  /** Changes of this node, to be written, and of other nodes, to be read. */
  private changesHere: CircuitChange[] = [];
  private changesElsewhere: CircuitChange[] = [];
  /**
   * `isPending`: the open circuits may differ from the written ones. `written`: the open circuits in the database;
   * undefined: unknown.
   */
  private isPending = false;
  private written: string | undefined = '[]';
  /** The last published probe of each model. */
  private readonly announced = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly circuits: Circuits,
    private readonly availability: ModelAvailability,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {
    super();
    circuits.changes.subscribe((changes) => {
      this.write(changes);
      this.announceProbes();
    });
    // The rows of a node that was given up were deleted with it.
    cluster.changes.subscribe(() => {
      const open = new Set(circuits.opened.map(({ modelId }) => modelId));
      if (open.size === 0) return;
      this.written = undefined;
      this.write([...open].map((modelId) => ({ modelId, isReached: false })));
    });
    events.subscribe(({ nextProbes, probeNow }) => {
      if (nextProbes !== undefined && nextProbes.length > 0) availability.noteProbes(nextProbes);
      if (probeNow !== undefined && probeNow.length > 0) circuits.probeNow(probeNow);
    });
    events.subscribe(({ circuits: changes = [], missed }, origin) => {
      if (origin === 'here' || (changes.length === 0 && missed === undefined)) return;
      this.changesElsewhere.push(...changes);
      this.scheduleWithin(0);
    });
  }

  async runOnce(): Promise<void> {
    if (this.isPending || this.written === undefined) await this.writeNow();
    const changes = this.changesElsewhere.splice(0);
    this.availability.set(await readCircuits(this.database));
    this.circuits.hint(changes.filter(({ isReached }) => isReached).map(({ modelId }) => modelId));
  }

  protected override nextIntervalMs(): number {
    const isLeft = this.isPending || this.written === undefined || this.changesElsewhere.length > 0;
    return isLeft ? 500 : this.intervalMs;
  }

  /** Publishes the next probes of models that this node does not reach, if they are others than before. */
  private announceProbes(): void {
    const away = new Set(this.circuits.opened.flatMap(({ modelId, isAway }) => (isAway ? modelId : [])));
    const now = this.clock.now();
    const nextProbes = [...away].flatMap((modelId) => {
      const inMs = this.circuits.nextProbeInMs(modelId);
      return inMs === undefined ? [] : { modelId, atMs: Math.round(now + inMs) };
    });
    // The same moment, computed from two clocks, differs a little each time.
    const isKnown = ({ modelId, atMs }: NextProbe): boolean =>
      Math.abs((this.announced.get(modelId) ?? 0) - atMs) < 100;
    const changed = nextProbes.filter((probe) => !isKnown(probe));
    for (const { modelId, atMs } of changed) this.announced.set(modelId, atMs);
    if (changed.length > 0) this.events.publish({ nextProbes: changed });
  }

  private write(changes: readonly CircuitChange[]): void {
    this.isPending = true;
    this.changesHere.push(...changes);
    this.scheduleWithin(changes.length > 0 ? 0 : probingMs);
  }

  private async writeNow(): Promise<void> {
    const changes = [...this.changesHere];
    const { opened } = this.circuits;
    // `sinceMs` is computed from two clocks and differs a little each time.
    const text = JSON.stringify(opened.map((circuit) => ({ ...circuit, sinceMs: 0 })));
    this.isPending = false;
    if (text !== this.written) {
      this.written = undefined;
      await writeCircuits(this.database, this.cluster.nodeId, opened);
      this.written = text;
    }
    this.changesHere.splice(0, changes.length);
    if (changes.length > 0) this.events.publish({ circuits: changes });
  }
}
