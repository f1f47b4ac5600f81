import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Database } from '../../../database/database.js';
import { firstIdAt, spansOfDays } from '../../../database/days.js';
import { isDatabaseUnavailable } from '../../../errors/database-error.js';
import { ModelsService } from '../../../models/models.service.js';
import { firstDay } from '../../reads/queries/days-with-tables.js';
import { IdempotencyKeyEntity } from '../../submit/entities/idempotency-key.entity.js';
import { dropOldOutput } from '../queries/output-partitions.js';
import { dropDay, droppableDays, emptyOldPayloads, removedModelIds } from '../queries/retention.js';
import { Retention } from '../retention.js';
import { Duty } from '../../../tools/duty.js';

const keysAtOnce = 5_000;

/**
 * Deletes what retention does not keep: whole days, payloads with a shorter retention, output partitions, old
 * idempotency keys.
 */
@Injectable()
export class Pruner extends Duty {
  protected readonly intervalMs = 600_000;
  /**
   * By model: the id up to which payloads are deleted. It is kept between rounds so that a round reads only new rows.
   */
  private readonly emptiedUpTo = new Map<string, string>();

  constructor(
    private readonly database: Database,
    @InjectRepository(IdempotencyKeyEntity) private readonly keys: Repository<IdempotencyKeyEntity>,
    private readonly models: ModelsService,
    private readonly retention: Retention,
  ) {
    super();
  }

  /** A part that fails, for example because a table belongs to another role, does not end the round for the others. */
  async runOnce(): Promise<void> {
    const parts = [
      () => this.models.postponeRemovals(),
      () => this.pruneIdempotencyKeys(),
      () => dropOldOutput(this.database),
      () => this.dropOldDays(),
      () => this.emptyOldPayloads(),
    ];
    let failure: Error | undefined;
    for (const part of parts) {
      try {
        await part();
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        failure ??= error as Error;
      }
    }
    if (failure !== undefined) throw failure;
  }

  private get served(): string[] {
    return this.models.all().map(({ id }) => id);
  }

  private async dropOldDays(): Promise<void> {
    for (const day of await droppableDays(this.database, this.retention.longestMs(), this.served)) {
      // PostgreSQL detaches one partition of a table after the other.
      if (!(await dropDay(this.database, day))) break;
    }
  }

  private async emptyOldPayloads(): Promise<void> {
    for (const id of new Set([...this.served, ...(await removedModelIds(this.database))])) {
      const retentionMs = this.retention.payloadMs(id);
      if (retentionMs < this.retention.longestMs()) await this.emptyPayloads(id, retentionMs);
    }
  }

  /** Deletes the keys older than 24 hours in batches. A key that is being used again is locked, and stays. */
  private async pruneIdempotencyKeys(): Promise<void> {
    const { tableName } = this.keys.metadata;
    const old = `SELECT ctid FROM ${tableName} WHERE created_at < now() - interval '24 hours'
      LIMIT ${keysAtOnce} FOR UPDATE SKIP LOCKED`;
    const prune = this.keys.createQueryBuilder().delete().where(`ctid = ANY (ARRAY(${old}))`);
    while ((await prune.execute()).affected === keysAtOnce);
  }

  private async emptyPayloads(modelId: string, retentionMs: number): Promise<void> {
    let from = this.emptiedUpTo.get(modelId) ?? (await firstDay(this.database));
    let blocked = false;
    for (const span of [...spansOfDays(from, firstIdAt(Date.now()))].reverse()) {
      for (;;) {
        const { lastId, firstKept } = await emptyOldPayloads(this.database, modelId, from, retentionMs, span);
        if (lastId === null) break;
        // The next round begins before the oldest request that had to keep its payload this time.
        blocked ||= firstKept !== null;
        if (!blocked) this.emptiedUpTo.set(modelId, lastId);
        from = lastId;
      }
    }
  }
}
