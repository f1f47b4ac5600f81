import { Injectable } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import { Recent } from '../../tools/recent.js';
import { type Availability, ModelAvailability } from '../circuits/model-availability.js';
import {
  countRunning,
  findOldestWaiting,
  findTypicalTimes,
  type TypicalTimes,
} from './queries/model-loads.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { KnownWorkers } from '../workers/known-workers.js';

export type { TypicalTimes } from './queries/model-loads.js';

export interface ModelLoad {
  waiting: number;
  /** Running requests on all nodes. */
  running: number;
  /** null: no request waits. */
  oldestWaitMs: number | null;
  /** undefined: too little is known. */
  times: TypicalTimes | undefined;
  availability: Availability;
  /** The time of the next probe while it is unavailable; null: none is known. */
  nextProbeAtMs: number | null;
  /** Workers that ask for runs; null: nodes run the model. */
  workers: number | null;
}

/** Data read from the database may be this old. */
const loadAgeMs = 1_000;
const timesAgeMs = 30_000;

/** Knows how much work each model has, and how long that takes. */
@Injectable()
export class ModelLoads {
  private readonly running: Recent<Map<string, number>>;
  private readonly oldest: Recent<Map<string, number>>;
  private readonly times: Recent<Map<string, TypicalTimes>>;

  constructor(
    database: Database,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly clock: Clock,
    private readonly models: ModelsService,
    private readonly workers: KnownWorkers,
  ) {
    this.running = new Recent(loadAgeMs, () => countRunning(database));
    this.oldest = new Recent(loadAgeMs, () => findOldestWaiting(database, index.oldest()));
    this.times = new Recent(timesAgeMs, async () => {
      const rows = await findTypicalTimes(database);
      return new Map(rows.map((row) => [row.id, row]));
    });
  }

  /** Returns the times of the models of which enough is known. */
  typicalTimes(): Promise<ReadonlyMap<string, TypicalTimes>> {
    return this.times.get();
  }

  async of(modelIds: readonly string[]): Promise<ModelLoad[]> {
    const [running, oldest, times] = await Promise.all([
      this.running.get(),
      this.oldest.get(),
      this.times.get(),
    ]);
    const now = this.clock.now();
    return modelIds.map((id) => {
      const waiting = this.index.depth(id);
      // A request that is newer than the last read has waited for less time than has passed since then.
      const availability = this.availability.of(id);
      const oldestWaitMs = waiting === 0 ? null : Math.max(0, now - (oldest.get(id) ?? now));
      return {
        waiting,
        running: running.get(id) ?? 0,
        oldestWaitMs,
        times: times.get(id),
        availability,
        nextProbeAtMs: availability === 'unavailable' ? this.availability.nextProbeAtMs(id) : null,
        workers: this.models.get(id)?.takenBy === 'workers' ? this.workers.count(id) : null,
      };
    });
  }
}
