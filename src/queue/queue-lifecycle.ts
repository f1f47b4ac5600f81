import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { setTimeout as delay } from 'node:timers/promises';
import { Config } from '../config/config.js';
import { ClusterMessages } from './cluster/cluster-messages.js';
import type { Duty } from '../tools/duty.js';
import { CircuitKeeper } from './circuits/duties/circuit-keeper.js';
import { HealthKeeper } from './circuits/duties/health-keeper.js';
import { ControlKeeper } from './cluster/duties/control-keeper.js';
import { FollowKeeper } from './runs/duties/follow-keeper.js';
import { Expirer } from './completion/duties/expirer.js';
import { Heartbeat } from './cluster/duties/heartbeat.js';
import { PartitionKeeper } from './retention/duties/partition-keeper.js';
import { Promoter } from './waiting/duties/promoter.js';
import { Pruner } from './retention/duties/pruner.js';
import { RunTimesKeeper } from './estimates/duties/run-times-keeper.js';
import { Releaser } from './waiting/duties/releaser.js';
import { Rescuer } from './runs/duties/rescuer.js';
import { Scheduler } from './runs/duties/scheduler.js';
import { SuspectKeeper } from './suspects/duties/suspect-keeper.js';
import { SlotKeeper } from './cluster/duties/slot-keeper.js';
import { IndexSync } from './waiting/duties/index-sync.js';
import { WorkerKeeper } from './workers/duties/worker-keeper.js';
import { WorkerScheduler } from './workers/duties/worker-scheduler.js';
import { Runs } from './runs/runs.js';

/** In the order in which they start. */
const everywhere = [
  IndexSync,
  CircuitKeeper,
  ControlKeeper,
  PartitionKeeper,
  Rescuer,
  Expirer,
  Promoter,
  Releaser,
  Pruner,
  RunTimesKeeper,
  WorkerKeeper,
  WorkerScheduler,
];
const whereRequestsRun = [SlotKeeper, HealthKeeper, Scheduler, FollowKeeper, SuspectKeeper];
export const duties = [Heartbeat, ...everywhere, ...whereRequestsRun];

/** Starts the queue's duties in their order. At the end, it first lets the runs end. */
@Injectable()
export class QueueLifecycle implements OnApplicationBootstrap {
  private duties: Duty[] = [];
  private leaving: Promise<void> | undefined;
  private readonly log = new Logger(QueueLifecycle.name);

  constructor(
    private readonly config: Config,
    private readonly messages: ClusterMessages,
    private readonly indexSync: IndexSync,
    private readonly runs: Runs,
    private readonly heartbeat: Heartbeat,
    private readonly slots: SlotKeeper,
    private readonly scheduler: Scheduler,
    private readonly controls: ControlKeeper,
    private readonly partitions: PartitionKeeper,
    private readonly releaser: Releaser,
    private readonly modules: ModuleRef,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.heartbeat.join();
    await this.partitions.runOnce();
    await this.messages.start();
    await this.indexSync.refill();
    await this.controls.runOnce();
    // A bound that was set while no process ran applies before the first claim.
    await this.releaser.runOnce().catch((error: Error) => {
      this.log.warn(`new bounds of keys are applied later: ${error.message}`);
    });
    if (this.config.role !== 'api') await this.slots.runOnce();
    this.heartbeat.start();
    const here = this.config.role === 'api' ? everywhere : [...everywhere, ...whereRequestsRun];
    this.duties = here.map((duty) => this.modules.get<Duty>(duty));
    for (const duty of this.duties) duty.start();
  }

  /** Claims nothing more and gives its idle slots to the other nodes. Idempotent. */
  leave(): Promise<void> {
    return (this.leaving ??= this.scheduler.stop().then(() => this.leaveSlots()));
  }

  /** Lets runs end within the grace period, and requeues the rest. `graceEnd`: ends the wait for runs. */
  async drain(graceEnd: AbortSignal): Promise<void> {
    const leaving = this.leave();
    // The other nodes may learn of it later. Without a database, waiting for that would delay the end of the runs.
    await this.scheduler.stop();
    if (this.runs.size > 0) {
      const runs = `${this.runs.size} ${this.runs.size === 1 ? 'run' : 'runs'}`;
      const grace = `${Math.ceil(this.config.shutdownGraceMs / 1_000)} s`;
      this.log.log(`stopping: ${runs} may end within ${grace}; a second signal hands them back now`);
    }
    await this.runsEnded(graceEnd);
    this.runs.abortAll('shutdown');
    // Without a database, no run can be requeued: the other nodes take them once the heartbeat is overdue.
    await this.runsEnded(AbortSignal.timeout(10_000));
    await leaving;
    // Where the database hangs, each may wait for its statement. Together they wait no longer than one does.
    await Promise.all(this.duties.map((duty) => duty.stop()));
    await this.heartbeat.stop();
  }

  /** Sends the last messages to the other nodes. Calls that are still answered after the runs may have some. */
  disconnect(): Promise<void> {
    return this.messages.stop();
  }

  /** The slot keeper gives the slots back in its next round, and the other nodes divide them once they know. */
  private async leaveSlots(): Promise<void> {
    try {
      await this.heartbeat.announceStop();
      await this.controls.publish();
    } catch (error) {
      this.log.debug(`the other nodes do not know yet that this one stops: ${(error as Error).message}`);
    }
  }

  private async runsEnded(end: AbortSignal): Promise<void> {
    while (this.runs.size > 0 && !end.aborted) await delay(20);
  }
}
