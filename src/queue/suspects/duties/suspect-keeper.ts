import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { Duty } from '../../../tools/duty.js';
import { Circuits } from '../../circuits/circuits.js';
import { Cluster } from '../../cluster/cluster.js';
import { QueueEvents } from '../../queue-events.js';
import { Dispatcher } from '../../runs/dispatcher.js';
import { moveSuspects, type Suspect, tendSuspects, writeQuarantine } from '../queries/suspects.js';

/** Between rounds while suspects may run on this node. */
const busyMs = 300;
/** The same while only other nodes may run them. They wait for the quarantine of this node. */
const watchMs = 2_000;

/** Runs suspects one at a time. Meanwhile this node sends nothing else to their addresses. */
@Injectable()
export class SuspectKeeper extends Duty {
  /** Events announce suspects. The interval is for an event that is lost. */
  protected readonly intervalMs = 60_000;
  protected override readonly firstWithinMs = 0;
  private pauseMs = busyMs;
  /** True: suspects were announced since the round began, so the round may not have seen them. */
  private isLate = false;
  /** The addresses for which this node has written a quarantine; undefined: unknown. */
  private written: string | undefined = '';

  constructor(
    private readonly database: Database,
    private readonly circuits: Circuits,
    private readonly cluster: Cluster,
    private readonly dispatcher: Dispatcher,
    events: QueueEvents,
  ) {
    super();
    // The rows of a node that was given up were deleted with it.
    cluster.changes.subscribe(() => (this.written = undefined));
    events.subscribe(({ suspects, missed }) => {
      if (missed !== true && (suspects === undefined || suspects.length === 0)) return;
      this.isLate = true;
      this.scheduleWithin(0);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    this.circuits.quarantine(new Map());
  }

  async runOnce(): Promise<void> {
    this.isLate = false;
    this.pauseMs = busyMs; // in case the database is lost
    const { isDraining } = this.cluster;
    const known = await tendSuspects(this.database, isDraining ? [] : this.circuits.suspectPlaces);
    // Other nodes wait for this one also if it has no such address. If it has, its other models do not stop for a
    // suspect that may not run here.
    const suspects = known.filter(
      ({ mayRun, address }) => mayRun || isDraining || !this.circuits.has(address),
    );
    if (!suspects.some(({ mayRun }) => mayRun))
      this.pauseMs = suspects.length > 0 ? watchMs : this.intervalMs;
    if (suspects.length === 0 && this.written === '' && !this.circuits.hasQuarantine) return;
    const active = suspects.filter(({ isDue, isRunning }) => isDue || isRunning);
    const waiting = new Map(active.map(({ address }) => [address, firstDue(active, address)]));
    // The order matters: the node stops sending other runs to an address before it writes the quarantine, and starts
    // again after it has deleted it.
    const stays = this.circuits.quarantined.filter((address) => !waiting.has(address));
    this.circuits.quarantine(new Map([...stays.map((address) => [address, undefined] as const), ...waiting]));
    await this.write([...waiting.keys()].filter((address) => this.circuits.isClear(address)));
    if (stays.length > 0) this.circuits.quarantine(waiting);
    for (const [address, modelId] of waiting)
      if (modelId !== undefined) await this.serve(suspects, modelId, address);
  }

  protected override nextIntervalMs(): number {
    return this.isLate ? busyMs : this.pauseMs;
  }

  /** Sends suspects to another address if theirs stays away. Starts the first one unless it was sent. */
  private async serve(suspects: readonly Suspect[], first: string, address: string): Promise<void> {
    const due = suspects.filter((suspect) => suspect.isDue && suspect.address === address);
    let isMoved = false;
    for (const modelId of new Set(due.map((suspect) => suspect.modelId))) {
      const other = this.circuits.insteadOf(modelId, address);
      if (other === undefined || !(await moveSuspects(this.database, modelId, address, other))) continue;
      isMoved ||= modelId === first;
    }
    if (!isMoved) await this.dispatcher.startSuspect(first, address);
  }

  private async write(addresses: readonly string[]): Promise<void> {
    const text = [...addresses].sort().join('\n');
    if (text === this.written) return;
    this.written = undefined;
    await writeQuarantine(this.database, this.cluster.nodeId, addresses);
    this.written = text;
  }
}

/** Returns the model whose suspect this node is to run next at an address. undefined: none is, or one runs there. */
function firstDue(suspects: readonly Suspect[], address: string): string | undefined {
  const here = suspects.filter((suspect) => suspect.address === address);
  if (here.some(({ isRunning }) => isRunning)) return undefined;
  return here.find(({ mayRun, isDue }) => mayRun && isDue)?.modelId;
}
