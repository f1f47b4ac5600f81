import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, type Repository } from 'typeorm';
import { Database } from '../../database/database.js';
import { Batcher, type BatcherOptions } from '../../tools/batcher.js';
import { RequestEventEntity } from './entities/request-event.entity.js';
import { FileUses, mayNameFiles } from '../retention/file-uses.js';
import type { Claimed } from './queries/claim.js';
import { finish, type RunBy } from './queries/finish.js';
import { holdsLease, keepLease } from './queries/node-leases.js';
import { requestFacts } from './queries/request-facts.js';
import { requeue, type Requeue } from './queries/requeue.js';
import type { WaitingRequest } from '../waiting/queries/waiting.js';
import { QueueEvents } from '../queue-events.js';
import { type RunFinish, toCompleted } from './run-finish.js';
import { persist } from '../../database/persist.js';
import { UnstoredResults } from './unstored-results.js';
import { logFullMessage, type LogUsage } from './run-log.js';
import type { RequestFacts } from './runner.js';

const maxWeight = 1024 * 1024;

export const finishBatches: BatcherOptions<RunFinish> = {
  maxItems: 512,
  maxWeight,
  writers: 3,
  weigh: ({ output }) => output?.length ?? 0,
};

export async function finishAndPublish(
  database: Database,
  events: QueueEvents,
  files: FileUses,
  items: RunFinish[],
  by?: RunBy,
): Promise<boolean[]> {
  for (const item of items)
    if (item.output !== null && mayNameFiles(item.output)) await files.ofOutput(item, item.output);
  const ended = await finish(database, items, by);
  // Includes requests that this try did not end: the answer to the first try may have been lost.
  events.publish({ changed: items.map(({ requestId }) => requestId) });
  events.emit('request.completed', () => items.filter((_, i) => ended[i]).map(toCompleted));
  return ended;
}

/** Reads and writes for runs, and retries until the database takes it. The run's token decides whether it may write. */
@Injectable()
export class RunStore {
  private readonly finishes: Batcher<RunFinish, boolean>;

  constructor(
    private readonly database: Database,
    events: QueueEvents,
    @InjectRepository(RequestEventEntity) private readonly requestEvents: Repository<RequestEventEntity>,
    files: FileUses,
    private readonly unstored: UnstoredResults,
  ) {
    this.finishes = new Batcher((items) => finishAndPublish(database, events, files, items), finishBatches);
  }

  /**
   * Returns whether the run still held its lease, and publishes its end. Throws `ResultUnstored` if there is no
   * memory to keep the result.
   */
  finish(item: RunFinish): Promise<boolean> {
    return this.unstored.whileStored(item.outputBytes ?? 0, () => this.finishes.add(item));
  }

  /** undefined: the run no longer holds a lease, or was asked to stop. */
  requeue(item: Requeue): Promise<WaitingRequest | undefined> {
    return persist(() => requeue(this.database, item));
  }

  /** Moves the deadline of a run. Returns whether it still held its lease. Tries once. */
  keepLease(lease: Pick<Claimed, 'id' | 'token'>): Promise<boolean> {
    return keepLease(this.database, lease);
  }

  /** Returns whether a run holds its lease. Tries once. */
  holdsLease(lease: Pick<Claimed, 'id' | 'token'>): Promise<boolean> {
    return holdsLease(this.database, lease);
  }

  /** Throws if the request is gone. */
  async facts(requestId: string): Promise<RequestFacts> {
    const facts = await persist(() => requestFacts(this.database, requestId));
    if (facts === undefined) throw new Error('the request is gone');
    return facts;
  }

  logUsage(requestId: string): Promise<LogUsage> {
    return persist(() => this.readLogUsage(requestId));
  }

  /** Reads once, without a retry: the database may be away. */
  async readLogUsage(requestId: string): Promise<LogUsage> {
    const lines = await this.requestEvents.find({
      select: { requestId: true, id: true, source: true, message: true },
      where: { requestId, message: Not(IsNull()) },
    });
    return {
      entries: lines.length,
      bytes: lines.reduce((sum, { message }) => sum + Buffer.byteLength(message!), 0),
      full: lines.some(({ source, message }) => source === 'queue' && message === logFullMessage),
    };
  }
}
