import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import { Config } from '../config/config.js';
import { Clock } from '../database/clock.js';
import type { Duty } from './duties/duty.js';
import { Expirer } from './duties/expirer.js';
import { PartitionKeeper } from './duties/partition-keeper.js';
import { Promoter } from './duties/promoter.js';
import { Scheduler } from './duties/scheduler.js';
import { LineKeeper } from './line-keeper.js';
import { Runs } from './runs.js';

/** Starts the queue's duties in their order and ends them in reverse. */
@Injectable()
export class QueueLifecycle implements OnApplicationBootstrap {
  private readonly duties: Duty[];

  constructor(
    private readonly config: Config,
    private readonly clock: Clock,
    private readonly lines: LineKeeper,
    private readonly runs: Runs,
    private readonly scheduler: Scheduler,
    private readonly partitions: PartitionKeeper,
    expirer: Expirer,
    promoter: Promoter,
  ) {
    this.duties = config.role === 'api' ? [partitions] : [partitions, expirer, promoter, scheduler];
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.clock.synchronise();
    await this.partitions.runOnce();
    await this.lines.start();
    for (const duty of this.duties) duty.start();
  }

  /** Claims nothing more, lets runs end within the grace, and hands the rest back to the queue. */
  async drain(): Promise<void> {
    await this.scheduler.stop();
    const deadline = performance.now() + this.config.shutdownGraceMs;
    while (this.runs.size > 0 && performance.now() < deadline) await delay(20);
    this.runs.abortAll('shutdown');
    while (this.runs.size > 0) await delay(20);
    for (const duty of this.duties) await duty.stop();
    this.lines.stop();
  }
}
