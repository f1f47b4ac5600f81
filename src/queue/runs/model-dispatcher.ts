import type { Model } from '../../models/model.js';
import type { ModelsService } from '../../models/models.service.js';
import type { QueueKey } from '../waiting/waiting-index.js';

const claimLimit = 512;
/** A look from the very front at least this often: a submission elsewhere may not be known here yet. */
const floorMs = 1_000;

export type ClaimFloor = Omit<QueueKey, 'modelId'>;

/** What the dispatcher knows of one model. */
export class ModelDispatcher {
  claiming: Promise<void> | undefined;
  again = false;
  hasMore = false;
  maxItems = claimLimit;
  /** The last key that was started here: while the queue is empty, what waits is behind it. */
  claimFloor: ClaimFloor | undefined;
  private floorlessAt = -Infinity;

  constructor(public model: Model) {}

  get isDue(): boolean {
    return performance.now() - this.floorlessAt > floorMs;
  }

  /** Once a second a claim looks without a floor. */
  isFloorFresh(): boolean {
    if (!this.isDue) return true;
    this.floorlessAt = performance.now();
    return false;
  }

  /** A request that this node does not know of may wait before its floor. */
  invalidateFloor(): void {
    this.floorlessAt = -Infinity;
  }

  /** `brought`: how many of those asked for; undefined when the claim failed. */
  noteClaim(limit: number, brought: number | undefined): void {
    this.hasMore = brought === limit;
    // So many large inputs may take longer than a statement may.
    this.maxItems = brought === undefined ? Math.ceil(limit / 2) : Math.min(claimLimit, this.maxItems * 2);
  }
}

/** Of each model one, also of those that have left the file, or that workers run now: what runs ends, nothing starts. */
export class ModelDispatchers {
  private readonly byId = new Map<string, ModelDispatcher>();

  constructor(private readonly models: Pick<ModelsService, 'all' | 'get'>) {}

  get(modelId: string): ModelDispatcher | undefined {
    return this.byId.get(modelId);
  }

  get all(): ModelDispatcher[] {
    return [...this.byId.values()];
  }

  /** Takes the models as they are now; which have changed. */
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
