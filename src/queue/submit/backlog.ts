import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { countWaitingOf } from '../queries/waiting.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { KeyBacklog } from './key-backlog.js';
import { UnderWay } from './under-way.js';

const maxKeys = 10_000;
const fullRetryAfterSeconds = 5;
const pausedRetryAfterSeconds = 30;

/** What may be submitted of a model, and by a key. */
export interface WaitingBounds {
  /** The operator lets nothing in. */
  readonly isPaused: boolean;
  /** How many requests may wait; null: any number. */
  readonly ofModel: number | null;
  readonly ofKey: number | null;
}

/** What wants to wait. */
export interface Coming {
  modelId: string;
  keyId: string;
  /** undefined: nothing bounds it. */
  bounds?: WaitingBounds | undefined;
}

/** To be called once, when what was let in is written, or is not. */
export type Leave = () => void;

/**
 * Keeps the bounds of what waits. In a process they are exact; several may pass one by what each has not heard of the
 * others.
 */
@Injectable()
export class Backlog {
  private readonly ofModels = new Map<string, UnderWay>();
  private readonly ofKeys = new BoundedCache<KeyBacklog>(maxKeys);

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
  ) {}

  /** Throws `queue_full` where so many wait for a model: a look, which bounds nothing that comes at the same time. */
  assertFewer(modelId: string, max: number): void {
    if (this.index.depth(modelId) >= max) throw fullModel(modelId, max);
  }

  /**
   * Lets one in, or throws `model_paused` or `queue_full`. What is being written just now may start at once: where that
   * decides, it is waited for. Who waits for a model's room has its key's, and who has both is written: nobody waits in a
   * circle.
   */
  async enter({ modelId, keyId }: Coming, { isPaused, ofModel, ofKey }: WaitingBounds): Promise<Leave> {
    if (isPaused) throw paused(modelId);
    const leaveKey = ofKey === null ? undefined : await this.enterKey(keyId, ofKey);
    try {
      const leaveModel = ofModel === null ? undefined : await this.enterModel(modelId, ofModel);
      return () => {
        leaveModel?.();
        leaveKey?.();
      };
    } catch (error) {
      leaveKey?.();
      throw error;
    }
  }

  /**
   * Lets in as many of one key as there is room for, in their order: what refuses each of the others. What others write just
   * now counts as waiting. For all of these waits nobody: they take their rooms together.
   */
  async enterMany(
    items: readonly Coming[],
  ): Promise<{ refusals: readonly (DomainError | undefined)[]; leave: Leave }> {
    const leaves: Leave[] = [];
    const bounded = items.find(({ bounds }) => typeof bounds?.ofKey === 'number');
    const max = bounded?.bounds?.ofKey ?? 0;
    const key = bounded && this.ofKey(bounded.keyId, max);
    await key?.lookFor(items.length);
    // As of this moment for all of them.
    let room = key?.room ?? Infinity;
    const refusals = items.map(({ modelId, bounds }) => {
      if (bounds?.isPaused === true) return paused(modelId);
      if (room <= 0) return fullKey(max);
      const ofModel = bounds?.ofModel ?? null;
      if (ofModel !== null) {
        const underWay = this.ofModel(modelId);
        if (this.index.depth(modelId) + underWay.count >= ofModel) return fullModel(modelId, ofModel);
        leaves.push(underWay.begin());
      }
      room--;
      if (key !== undefined) leaves.push(key.take());
      return undefined;
    });
    return { refusals, leave: () => leaves.forEach((leave) => leave()) };
  }

  private async enterModel(modelId: string, max: number): Promise<Leave> {
    const underWay = this.ofModel(modelId);
    for (;;) {
      const depth = this.index.depth(modelId);
      if (depth >= max) {
        underWay.wake();
        throw fullModel(modelId, max);
      }
      if (depth + underWay.count < max) {
        const leave = underWay.begin();
        if (depth + underWay.count < max) underWay.wake();
        return leave;
      }
      await underWay.oneIsOver();
    }
  }

  private async enterKey(keyId: string, max: number): Promise<Leave> {
    const leave = await this.ofKey(keyId, max).enter();
    if (leave === undefined) throw fullKey(max);
    return leave;
  }

  private ofModel(modelId: string): UnderWay {
    let underWay = this.ofModels.get(modelId);
    if (underWay === undefined) this.ofModels.set(modelId, (underWay = new UnderWay()));
    return underWay;
  }

  private ofKey(keyId: string, max: number): KeyBacklog {
    const name = `${keyId} ${max}`;
    const key =
      this.ofKeys.get(name, 0) ?? new KeyBacklog(max, (most) => countWaitingOf(this.database, keyId, most));
    // What is in use stays.
    this.ofKeys.set(name, key, Infinity);
    return key;
  }
}

function full(reason: string): DomainError {
  const options = { retryAfterSeconds: fullRetryAfterSeconds };
  return new DomainError('queue_full', `${reason} Try again once some have started.`, options);
}

const fullModel = (modelId: string, max: number): DomainError =>
  full(`${max} requests wait for ${modelId}, and no more may.`);

const fullKey = (max: number): DomainError => full(`${max} requests of this key wait, and no more may.`);

function paused(modelId: string): DomainError {
  const detail = `The model ${modelId} is paused by the operator, and takes no requests until it is resumed.`;
  return new DomainError('model_paused', detail, { retryAfterSeconds: pausedRetryAfterSeconds });
}
