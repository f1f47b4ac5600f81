import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, Raw, type Repository } from 'typeorm';
import { IdempotencyKeyEntity } from './entities/idempotency-key.entity.js';
import { LeaseEntity } from './entities/lease.entity.js';
import { RequestEventEntity } from './entities/request-event.entity.js';
import { RequestEntity } from './entities/request.entity.js';
import { type LogUsage, logFullMessage } from './runs/run-log.js';

const prunedAtOnce = 5_000;

/** What the queue reads and writes without a race, and not so often that it need be prepared. */
@Injectable()
export class QueueStore {
  constructor(
    @InjectRepository(RequestEntity) private readonly requests: Repository<RequestEntity>,
    @InjectRepository(RequestEventEntity) private readonly requestEvents: Repository<RequestEventEntity>,
    @InjectRepository(LeaseEntity) private readonly leases: Repository<LeaseEntity>,
    @InjectRepository(IdempotencyKeyEntity) private readonly keys: Repository<IdempotencyKeyEntity>,
  ) {}

  /** The JSON text as the model sent it; null: there is none. */
  async output(requestId: string): Promise<string | null> {
    const row = await this.requests
      .createQueryBuilder('request')
      // Parsed and written again, its numbers could change.
      .select('request.output::text', 'output')
      .where({ id: requestId })
      .getRawOne<{ output: string | null }>();
    return row?.output ?? null;
  }

  /** How much of a request's log earlier attempts have used. */
  async logUsage(requestId: string): Promise<LogUsage> {
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

  /** Leases of a node older than any claim that may still be under way. */
  oldLeases(nodeId: string): Promise<Pick<LeaseEntity, 'requestId' | 'token'>[]> {
    return this.leases.find({
      select: { requestId: true, token: true },
      where: { nodeId, startedAt: Raw((column) => `${column} < clock_timestamp() - interval '12 seconds'`) },
    });
  }

  /** Forgets idempotency keys older than a day, some at a time. */
  async pruneIdempotencyKeys(): Promise<void> {
    const { tableName } = this.keys.metadata;
    const old = `SELECT ctid FROM ${tableName} WHERE created_at < now() - interval '24 hours' LIMIT ${prunedAtOnce}`;
    const prune = this.keys.createQueryBuilder().delete().where(`ctid = ANY (ARRAY(${old}))`);
    while ((await prune.execute()).affected === prunedAtOnce);
  }
}
