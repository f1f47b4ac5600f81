import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { Duty } from '../../tools/duty.js';
import { Circuits } from '../circuits/circuits.js';
import { ModelAvailability } from '../circuits/model-availability.js';
import { Cluster } from '../cluster/cluster.js';
import { readCircuits, writeCircuits } from '../queries/circuits.js';
import { type CircuitChange, QueueEvents } from '../queue-events.js';

/** Writes which models this node cannot reach, for the others, and reads the same of all. */
@Injectable()
export class CircuitKeeper extends Duty {
  protected readonly intervalMs = 30_000;
  /** Of this node, to be written; of others, to be read. */
  private changesHere: CircuitChange[] = [];
  private changesElsewhere: CircuitChange[] = [];

  constructor(
    private readonly database: Database,
    private readonly cluster: Cluster,
    private readonly circuits: Circuits,
    private readonly availability: ModelAvailability,
    private readonly events: QueueEvents,
  ) {
    super();
    circuits.changes.subscribe((changes) => this.write(changes));
    // The rows of a node that was given up went with it.
    cluster.changes.subscribe(() =>
      this.write(circuits.yielded.map(({ modelId }) => ({ modelId, isReached: false }))),
    );
    events.subscribe(({ circuits: changes = [], missed }, origin) => {
      if (origin === 'here' || (changes.length === 0 && missed === undefined)) return;
      this.changesElsewhere.push(...changes);
      this.scheduleWithin(0);
    });
  }

  override start(): void {
    super.start();
    this.scheduleWithin(0);
  }

  async runOnce(): Promise<void> {
    if (this.changesHere.length > 0) await this.writeNow();
    const changes = this.changesElsewhere.splice(0);
    this.availability.set(await readCircuits(this.database));
    this.circuits.hint(changes.filter(({ isReached }) => isReached).map(({ modelId }) => modelId));
  }

  protected override nextIntervalMs(): number {
    return this.changesHere.length + this.changesElsewhere.length > 0 ? 500 : this.intervalMs;
  }

  private write(changes: readonly CircuitChange[]): void {
    if (changes.length === 0) return;
    this.changesHere.push(...changes);
    this.scheduleWithin(0);
  }

  private async writeNow(): Promise<void> {
    const changes = [...this.changesHere];
    await writeCircuits(this.database, this.cluster.nodeId, this.circuits.yielded);
    this.changesHere.splice(0, changes.length);
    this.events.publish({ circuits: changes });
  }
}
