import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Cancels } from '../../queue/completion/cancels.js';
import { Duty } from '../../tools/duty.js';
import {
  type AbandonedCall,
  abandonCall,
  resumeCall,
  takeDueCalls,
  takeUpCall,
} from '../queries/abandoned-calls.js';

/** A round comes a little after the time at which a request is due. */
const afterDueMs = 200;

/** Cancels the requests of closed calls that no repetition has taken up in time, also those of other nodes. */
@Injectable()
export class AbandonedCalls extends Duty implements OnApplicationBootstrap, BeforeApplicationShutdown {
  /** What nodes that were lost have left is found within this time. */
  protected readonly intervalMs = 30_000;
  /** How long the request of a closed call goes on. Tests shorten it. */
  graceMs = 10_000;
  /** The time at which the last call that was closed here is due. */
  private lastDueAt = -Infinity;

  constructor(
    private readonly database: Database,
    private readonly cancels: Cancels,
  ) {
    super();
  }

  onApplicationBootstrap(): void {
    this.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.stop();
  }

  async abandon(call: AbandonedCall): Promise<void> {
    try {
      await abandonCall(this.database, call, this.graceMs);
    } catch (error) {
      // Without the database nothing can be cancelled. The request runs to its end.
      if (isDatabaseUnavailable(error)) return;
      throw error;
    }
    this.lastDueAt = performance.now() + this.graceMs + afterDueMs;
    this.scheduleWithin(this.nextIntervalMs());
  }

  /** Returns the request of a call that was closed, for a repetition of the call. undefined: there is none. */
  takeUp(keyId: string, fingerprint: Buffer): Promise<string | undefined> {
    return takeUpCall(this.database, keyId, fingerprint);
  }

  /** Notes that a call waits for the request again. */
  resume(requestId: string): Promise<void> {
    return resumeCall(this.database, requestId);
  }

  async runOnce(): Promise<void> {
    for (const id of await takeDueCalls(this.database)) await this.cancels.one(id);
  }

  protected override nextIntervalMs(): number {
    const dueInMs = this.lastDueAt - performance.now();
    return dueInMs < 0 ? this.intervalMs : Math.max(afterDueMs, dueInMs);
  }
}
