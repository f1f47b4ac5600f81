import { Injectable, Logger } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { version } from '../../../config/package.js';
import { Clock } from '../../../database/clock.js';
import { Database } from '../../../database/database.js';
import { announceStop, beat, leave, register, skipEventIds } from '../queries/heartbeat.js';
import { Runs } from '../../runs/runs.js';
import { Slots } from '../slots.js';
import { Cluster, lostAfterMs } from '../cluster.js';
import { Duty } from '../../../tools/duty.js';

/** A slow answer may make a right clock look wrong by half of a statement's time limit. */
const skewWarnedFromMs = 10_000;
const skewWarnedEveryMs = 3_600_000;
/** A slow answer may look like a smaller step of the database's clock. */
const clockStepMs = 3_000;
/** A shorter pause is a restart. */
const pauseLoggedFromMs = 60_000;

/**
 * Sends the heartbeat. Between two beats, a timer that needs no database notices a late one: the node stops its runs
 * before other nodes start them.
 */
@Injectable()
export class Heartbeat extends Duty {
  protected readonly intervalMs = 1_500;
  private readonly log = new Logger(Heartbeat.name);
  private watch: NodeJS.Timeout | undefined;
  private skewWarnedAt = -Infinity;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly cluster: Cluster,
    private readonly runs: Runs,
    private readonly slots: Slots,
  ) {
    super();
  }

  /** Registers the node. The first beat is complete when this resolves. */
  async join(): Promise<void> {
    this.logPause(await skipEventIds(this.database));
    await this.register();
    await this.runOnce();
    this.watch ??= setInterval(() => this.fenceIfLate(), 250);
  }

  /** Notifies the other nodes that this node is stopping, so that they do not count on it. */
  async announceStop(): Promise<void> {
    this.cluster.isStopping = true;
    await announceStop(this.database, this.cluster.nodeId);
  }

  /** Called after the runs have ended. */
  override async stop(): Promise<void> {
    clearInterval(this.watch);
    this.watch = undefined;
    await super.stop();
    await leave(this.database, this.cluster.nodeId).catch(() => undefined);
  }

  async runOnce(): Promise<void> {
    this.fenceIfLate();
    const sentAt = performance.now();
    const state = await beat(this.database, this.cluster.nodeId, lostAfterMs);
    const stepMs = state.nowMs - this.clock.now();
    this.clock.set(state.nowMs, (sentAt + performance.now()) / 2);
    this.warnOfSkew();
    if (!state.known) {
      this.giveUpRuns();
      await this.register();
    }
    for (const id of state.cancelRequested) this.runs.abort(id, 'cancelled');
    this.cluster.update(state, sentAt);
    // The database's clock was set forward: living nodes seem silent until each has sent another heartbeat.
    if (stepMs > clockStepMs) this.cluster.beats = 0;
  }

  /**
   * Nothing in a restored database shows that it was restored, except that its last sign of a node is as old as the
   * backup.
   */
  private logPause(lastSign: Date | null): void {
    if (lastSign === null || this.clock.now() - lastSign.getTime() < pauseLoggedFromMs) return;
    this.log.log(
      `no node has given a sign since ${lastSign.toISOString()}. If the database was restored from a backup of that ` +
        'time, what was erased and revoked later is back: docs/backups.md, "After a restore", says how to find it',
    );
  }

  private warnOfSkew(): void {
    const { skewMs } = this.clock;
    const now = performance.now();
    if (Math.abs(skewMs) < skewWarnedFromMs || now - this.skewWarnedAt < skewWarnedEveryMs) return;
    this.skewWarnedAt = now;
    const seconds = Math.round(Math.abs(skewMs) / 1_000);
    this.log.warn(
      `the clock of this machine is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} the database's: set it, for ` +
        "example with NTP. Log lines, traces and Date headers have this machine's time, all else has the database's",
    );
  }

  private register(): Promise<void> {
    const { nodeName: name, role } = this.config;
    const { nodeId: id, isDraining, isStopping } = this.cluster;
    return register(this.database, { id, name, role, version, isDraining, isStopping });
  }

  private fenceIfLate(): void {
    if (this.cluster.mustFence) this.giveUpRuns();
  }

  private giveUpRuns(): void {
    this.cluster.fence();
    this.slots.withdraw();
    this.runs.abortAll('lost');
  }
}
