import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import type { Model } from '../models/model.js';
import { ModelAvailability } from '../queue/circuits/model-availability.js';
import type { Estimate } from '../queue/estimates/estimate.js';
import { Estimates } from '../queue/estimates/estimates.js';
import { type QueueKey, WaitingIndex } from '../queue/waiting/waiting-index.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { Recent } from '../tools/recent.js';
import { readShares, sampleSize, type ShareRow, type WaitingOfKey } from './queries/shares.js';
import { readRunning, readStanding, type StandingRow } from './queries/standing.js';

export interface Standing extends StandingRow {
  /** null: it runs. */
  position: number | null;
  estimate: Estimate | undefined;
}

interface Shares {
  rows: ShareRow[];
  /** Only this many requests at the front of the queue were counted; null: all were. */
  sampled: number | null;
}

export type Place = Pick<QueueKey, 'priority' | 'start' | 'seq'>;

const beforeAll: Place = { priority: -32_768, start: 0, seq: 0 };
const maxRunning = 500;
/** Shares may be this old, because the last hour is read in full for them. */
const sharesAgeMs = 10_000;
const sharesKeptMs = 60_000;

/** Shows operators the requests of a queue at their positions, and the share of a model that each key gets. */
@Injectable()
export class QueueLooks {
  private readonly shares = new BoundedCache<Recent<Shares>>(100);

  constructor(
    private readonly database: ObservingDatabase,
    private readonly index: WaitingIndex,
    private readonly estimates: Estimates,
    private readonly availability: ModelAvailability,
  ) {}

  async running(modelId: string): Promise<Standing[]> {
    const rows = await readRunning(this.database, modelId, maxRunning);
    return rows.map((row) => ({ ...row, position: null, estimate: undefined }));
  }

  async waiting(
    modelId: string,
    after: Place | undefined,
    limit: number,
    isPaused: boolean,
  ): Promise<Standing[]> {
    const rows = await readStanding(this.database, { modelId, ...(after ?? beforeAll) }, limit);
    const starts = !isPaused && this.availability.of(modelId) === 'available';
    return rows.map((row) => {
      const position = this.index.position(row);
      // It is not known how long another reason to wait lasts.
      const isEstimated = starts && row.state === 'waiting';
      return { ...row, position, estimate: isEstimated ? this.estimates.ofEntry(row, position) : undefined };
    });
  }

  sharesOf(model: Model): Promise<Shares> {
    const now = performance.now();
    const shares = this.shares.get(model.id, now) ?? new Recent(sharesAgeMs, () => this.readShares(model));
    this.shares.set(model.id, shares, now + sharesKeptMs);
    return shares.get();
  }

  private async readShares({ id, order }: Model): Promise<Shares> {
    const waiting = order === 'fair' ? this.waitingOfKeys(id) : undefined;
    const rows = await readShares(this.database, id, waiting);
    const isSample = waiting === undefined && this.index.depth(id) > sampleSize;
    return { rows, sampled: isSample ? sampleSize : null };
  }

  private waitingOfKeys(modelId: string): WaitingOfKey[] {
    const held = this.index.heldByKey(modelId);
    return [...this.index.waitingByKey(modelId)].map(([orderKey, waiting]) => ({
      orderKey,
      waiting,
      held: held.get(orderKey) ?? 0,
    }));
  }
}
