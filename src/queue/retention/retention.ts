import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { idTimeMs } from '../../database/days.js';
import { ModelsService } from '../../models/models.service.js';
import { firstKeyAtMs } from './queries/first-key.js';
import type { StatusRow } from '../reads/status-row.js';

/** An id has the time of its node's clock, a key has that of the database: they differ by less than this. */
const clockSlackMs = 10 * 60_000;

/**
 * Knows how long requests and payloads are kept. A request is gone for callers at the end of its retention, and from
 * the disk with its whole day.
 */
@Injectable()
export class Retention {
  private firstKeyAtMs: number | null = null;

  constructor(
    private readonly config: Config,
    private readonly models: ModelsService,
    private readonly clock: Clock,
    private readonly database: Database,
  ) {}

  /** Returns the longest time that any model's requests are kept: a day's tables are kept this long. */
  longestMs(): number {
    return Math.max(this.config.retentionMs, ...this.models.all().map(({ retentionMs }) => retentionMs ?? 0));
  }

  payloadMs(modelId: string): number {
    const { retentionPayloadMs, retentionMs } = this.config;
    const model = this.models.get(modelId);
    return model?.retentionPayloadMs ?? model?.retentionMs ?? retentionPayloadMs ?? retentionMs;
  }

  isOver({ modelId, completedAtMs }: Pick<StatusRow, 'modelId' | 'completedAtMs'>): boolean {
    const retentionMs = this.models.get(modelId)?.retentionMs ?? this.config.retentionMs;
    return completedAtMs !== null && completedAtMs + retentionMs < this.clock.now();
  }

  /** Returns true if a request with this id may have existed and been deleted. */
  async mayHaveRemoved(requestId: string): Promise<boolean> {
    const submittedAtMs = idTimeMs(requestId);
    if (submittedAtMs + this.longestMs() >= this.clock.now()) return false;
    this.firstKeyAtMs ??= await firstKeyAtMs(this.database);
    return submittedAtMs > (this.firstKeyAtMs ?? Infinity) - clockSlackMs;
  }
}
