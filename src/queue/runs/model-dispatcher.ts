import type { Model } from '../../models/model.js';
import type { ModelsService } from '../../models/models.service.js';
import type { QueueKey } from '../waiting/waiting-index.js';

const claimLimit = 512;
/** At least this often a claim looks from the very front: a submission on another node may not be known here yet. */
const floorMs = 1_000;

export type ClaimFloor = Omit<QueueKey, 'modelId'>;

/** The dispatcher's state for one model. */
export class ModelDispatcher {
  hasMore = false;
  maxItems = claimLimit;
  /** The last key that was started here. While the queue is empty, later requests are placed behind it. */
  claimFloor: ClaimFloor | undefined;
  private floorlessAt = -Infinity;

  constructor(public model: Model) {}

  get isDue(): boolean {
    return performance.now() - this.floorlessAt > floorMs;
  }

  /** Returns false once a second: then a claim looks without a floor. */
  isFloorFresh(): boolean {
    if (!this.isDue) return true;
    this.floorlessAt = performance.now();
    return false;
  }

  /** Drops the floor, because a request that this node does not know of may wait before it. */
  invalidateFloor(): void {
    this.floorlessAt = -Infinity;
  }

  /** `brought`: how many of the requested runs the claim brought; undefined: it failed. */
  noteClaim(limit: number, brought: number | undefined): void {
    this.hasMore = brought === limit;
    // Too many large inputs may take longer than the timeout of a statement.
    this.maxItems = brought === undefined ? Math.ceil(limit / 2) : Math.min(claimLimit, this.maxItems * 2);
  }
}

/**
 * One dispatcher per model, also for models that have left the file, or that workers run now: their runs end, and
 * nothing starts.
 */
export class ModelDispatchers {
  private readonly byId = new Map<string, ModelDispatcher>();

  constructor(private readonly models: Pick<ModelsService, 'all' | 'get'>) {}

  get(modelId: string): ModelDispatcher | undefined {
    return this.byId.get(modelId);
  }

  get all(): ModelDispatcher[] {
    return [...this.byId.values()];
  }

  /** Takes the models as they are now. Returns those that have changed. */
  follow(): string[] {
    for (const dispatcher of this.all) {
      const { model } = dispatcher;
      if (this.models.get(model.id)?.runner.isPulled !== false)
        dispatcher.model = { ...model, paused: 'hold' };
    }
    const own = this.models.all().filter(({ runner }) => !runner.isPulled);
    return own.flatMap((model) => {
      const known = this.byId.get(model.id);
      if (known?.model === model) return [];
      if (known === undefined) this.byId.set(model.id, new ModelDispatcher(model));
      else known.model = model;
      return model.id;
    });
  }
}
