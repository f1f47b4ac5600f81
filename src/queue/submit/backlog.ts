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

/** The bounds of submissions for a model, and by a key. */
export interface WaitingBounds {
  /** True: the operator admits no requests. */
  readonly isPaused: boolean;
  /** How many requests may wait; null: any number. */
  readonly ofModel: number | null;
  readonly ofKey: number | null;
}

/** A request that is to wait. */
export interface Coming {
  modelId: string;
  keyId: string;
  /** undefined: there are no bounds. */
  bounds?: WaitingBounds | undefined;
}

/** Called once, when an admitted request is written, or when its write has failed. */
export type Leave = () => void;

/**
 * Keeps the bounds of waiting requests. Within a process they are exact. Several processes may exceed a bound by what
 * each does not know of the others yet.
 */
@Injectable()
export class Backlog {
  private readonly ofModels = new Map<string, UnderWay>();
  private readonly ofKeys = new BoundedCache<KeyBacklog>(maxKeys);

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
  ) {}

  /**
   * Throws `queue_full` if this many requests wait for a model. It only reads, so requests that come at the same time
   * may exceed the bound.
   */
  assertFewer(modelId: string, max: number): void {
    if (this.index.depth(modelId) >= max) throw fullModel(modelId, max);
  }

  /**
   * Admits a request, or throws `model_paused` or `queue_full`. Requests that are being written may still start at
   * once: if that decides, the call waits for them. A call that waits for a model's room has its key's room already,
   * and a request with both is written: there is no deadlock.
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
   * Admits as many requests of one key as there is room for, in their order. `refusals`: what refuses each of the
   * others. Requests that are being written count as waiting. None of these waits for another, because they take
   * their room together.
   */
  async enterMany(
    items: readonly Coming[],
  ): Promise<{ refusals: readonly (DomainError | undefined)[]; leave: Leave }> {
    const leaves: Leave[] = [];
    const bounded = items.find(({ bounds }) => typeof bounds?.ofKey === 'number');
    const max = bounded?.bounds?.ofKey ?? 0;
    const key = bounded && this.ofKey(bounded.keyId, max);
    await key?.lookFor(items.length);
    // The room at this moment, for all of them.
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
    // Stored again, so that a key in use stays in the cache.
    this.ofKeys.set(name, key, Infinity);
    return key;
  }
}

function full(reason: string): DomainError {
  const options = { retryAfterSeconds: fullRetryAfterSeconds };
  return new DomainError('queue_full', `${reason} Try again once some have started.`, options);
}

const fullModel = (modelId: string, max: number): DomainError =>
  full(`${max} requests already wait for ${modelId}, which is the limit.`);

const fullKey = (max: number): DomainError =>
  full(`${max} requests of this key already wait, which is the limit.`);

function paused(modelId: string): DomainError {
  const detail = `The model ${modelId} is paused by the operator and accepts no requests until it is resumed.`;
  return new DomainError('model_paused', detail, { retryAfterSeconds: pausedRetryAfterSeconds });
}
