import type { Model } from '../../models/model.js';
import type { Place } from '../waiting/queue-key.js';

/** Most requests in one claim. */
const claimLimit = 512;
/** A look from the very front at least this often: a submission elsewhere may not have been heard of yet. */
const floorMs = 1_000;

/** What the scheduler knows of one model. */
export class Lane {
  /** The claims that are under way. */
  claiming: Promise<void> | undefined;
  /** Something arrived while a claim was under way. */
  again = false;
  /** The last claim brought as many as it asked for. */
  hasMore = false;
  /** Most requests in its next claim. */
  most = claimLimit;
  /** The last place that was started here: while the line is empty, what waits is behind it. */
  passed: Pick<Place, 'priority' | 'seq'> | null = null;
  /** When the last look without a floor was. */
  private floorlessAt = -Infinity;

  constructor(readonly model: Model) {}

  /** Whether a look from the very front is due. */
  get isDue(): boolean {
    return performance.now() - this.floorlessAt > floorMs;
  }

  /** Whether what this node knows of the line's front will do; once a second the database is asked without it. */
  trusted(): boolean {
    if (!this.isDue) return true;
    this.floorlessAt = performance.now();
    return false;
  }

  /** Somebody may wait of whom this node knows nothing, and not behind its floor. */
  distrust(): void {
    this.floorlessAt = -Infinity;
  }

  /** `brought`: how many of those asked for; undefined when the claim failed. */
  noteClaim(limit: number, brought: number | undefined): void {
    this.hasMore = brought === limit;
    // So many large inputs may take longer than a statement may.
    this.most = brought === undefined ? Math.ceil(limit / 2) : Math.min(claimLimit, this.most * 2);
  }
}
