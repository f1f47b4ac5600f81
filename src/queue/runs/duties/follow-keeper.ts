import { Injectable } from '@nestjs/common';
import { Duty } from '../../../tools/duty.js';
import { FollowedRuns } from '../followed-runs.js';

/** Cancels runs at their servers that nobody waits for: at once after a run of this node, else every 2 s. */
@Injectable()
export class FollowKeeper extends Duty {
  protected readonly intervalMs = 2_000;
  private isDue = false;

  constructor(private readonly followed: FollowedRuns) {
    super();
    followed.ends.subscribe(() => {
      this.isDue = true;
      this.scheduleWithin(0);
    });
  }

  override async stop(): Promise<void> {
    await super.stop();
    await this.followed.settled();
  }

  async runOnce(): Promise<void> {
    this.isDue = false;
    await this.followed.cancelAbandoned();
  }

  protected override nextIntervalMs(): number {
    return this.isDue ? 0 : this.intervalMs;
  }
}
