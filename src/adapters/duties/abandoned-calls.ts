import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { isDatabaseUnavailable } from '../../errors/database-error.js';
import { Cancels } from '../../queue/completion/cancels.js';
import { SelfStartingDuty } from '../../tools/duty.js';
import {
  type AbandonedCall,
  abandonCall,
  type CancelTable,
  cancelTables,
  deleteDue,
  lockDue,
  nextCancelInMs,
  planCancel,
  resumeCall,
  takeUpCall,
} from '../queries/abandoned-calls.js';

/** At most this many requests are cancelled in one transaction. */
const maxAtOnce = 500;

/**
 * Cancels the requests of closed calls that no client has repeated in time, and requests whose callers have set a time
 * for the cancel. Covers the calls of all nodes.
 */
@Injectable()
export class AbandonedCalls extends SelfStartingDuty {
  /** What other nodes have noted is found within this time. */
  protected readonly intervalMs = 30_000;
  protected override readonly shortestPauseMs = 200;
  /** A round that failed has forgotten what was due. */
  protected override readonly retryMs = 1_000;
  /** The time from the close of a call to the cancel of its request. Tests shorten it. */
  graceMs = 10_000;
  /** The time at which the next request is due, as far as is known. */
  private nextDueAt = Infinity;

  constructor(
    private readonly database: Database,
    private readonly cancels: Cancels,
  ) {
    super();
  }

  async abandon(call: AbandonedCall): Promise<void> {
    await unlessAway(abandonCall(this.database, call, this.graceMs));
    this.expect(this.graceMs);
  }

  /** Returns the request of a call that was closed, for a repetition of the call. undefined: there is none. */
  takeUp(keyId: string, fingerprint: Buffer): Promise<string | undefined> {
    return takeUpCall(this.database, keyId, fingerprint);
  }

  /** Notes that a call waits for the request, whatever other nodes have noted until now. */
  resume(requestId: string): Promise<void> {
    return unlessAway(resumeCall(this.database, requestId));
  }

  /** Cancels a request when it is this old, whether it waits or runs. */
  async plan({ id, createdAtMs }: { id: string; createdAtMs: number }, ageMs: number): Promise<void> {
    await unlessAway(planCancel(this.database, id, createdAtMs + ageMs));
    this.expect(ageMs);
  }

  async runOnce(): Promise<void> {
    this.nextDueAt = Infinity;
    const inMs = await nextCancelInMs(this.database);
    if (inMs !== null && inMs <= 0) for (const table of cancelTables) await this.cancelDue(table);
    this.nextDueAt = Math.min(this.nextDueAt, performance.now() + (inMs ?? Infinity));
  }

  protected override dueInMs(): number {
    return this.nextDueAt - performance.now();
  }

  private expect(dueInMs: number): void {
    this.nextDueAt = Math.min(this.nextDueAt, performance.now() + dueInMs);
    this.scheduleWithin(this.intervalMs);
  }

  /** The cancel and its note are one commit. A request that moved meanwhile keeps its note for the next round. */
  private async cancelDue(table: CancelTable): Promise<void> {
    const cancelled = await this.database.transaction(async (query) => {
      const ids = await lockDue({ query }, table, maxAtOnce);
      if (ids.length === 0) return undefined;
      const some = await this.cancels.among({ query }, {}, ids);
      const moved = new Set(some.moved);
      await deleteDue(
        { query },
        table,
        ids.filter((id) => !moved.has(id)),
      );
      return some;
    });
    cancelled?.publish();
  }
}

/** Without the database nothing can be noted or cancelled. The request runs to its end. */
async function unlessAway(noted: Promise<void>): Promise<void> {
  try {
    await noted;
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error;
  }
}
