import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { ModelsService } from '../../models/models.service.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { countWaitingOf } from '../queries/waiting.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { UnderWay } from './under-way.js';

/** So old may the count of a key be; what it submitted here since is added. */
const countedForMs = 1_000;
/** A key at its bound is counted again with each call, unless that takes long: then it rests for so many times as long. */
const cheapCountMs = 25;
const restPerCount = 4;
const maxKeys = 10_000;
const fullRetryAfterSeconds = 5;
const pausedRetryAfterSeconds = 30;

/** How many requests may wait, of a model and of a key; null: any number. */
export interface WaitingBounds {
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

class KeyCount {
  /** As it was counted. */
  waiting = 0;
  /** Let in since, or under way when it was counted. */
  since = 0;
  freshUntil = -Infinity;
  restsUntil = -Infinity;
  counting: Promise<void> | undefined;
  readonly underWay = new UnderWay();
}

/**
 * What may be submitted now: nothing of a model that is paused so, and no more than may wait, of a model and of a key. In
 * a process the bounds are exact; several may pass one by what each has not heard of the others.
 */
@Injectable()
export class Backlog {
  private readonly ofModels = new Map<string, UnderWay>();
  private readonly ofKeys = new BoundedCache<KeyCount>(maxKeys);

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
    private readonly models: ModelsService,
  ) {}

  /**
   * Lets one in, or throws `model_paused` or `queue_full`; undefined: there is nothing to call when it is written.
   * `mayWait`: for what is being written just now, to know how it stands; not for one whose caller writes several.
   */
  enter(coming: Coming, mayWait = true): Promise<Leave> | undefined {
    const { modelId, bounds } = coming;
    if (this.models.get(modelId)?.paused === 'reject') throw paused(modelId);
    return bounds && this.takeRoom(coming, bounds, mayWait);
  }

  /** Throws `queue_full` where so many wait for a model. */
  assertFewer(modelId: string, max: number): void {
    if (this.index.depth(modelId) >= max) throw fullModel(modelId, max);
  }

  private async takeRoom(
    { modelId, keyId }: Coming,
    { ofModel, ofKey }: WaitingBounds,
    mayWait: boolean,
  ): Promise<Leave> {
    const leaveModel = ofModel === null ? undefined : await this.enterModel(modelId, ofModel, mayWait);
    try {
      const leaveKey = ofKey === null ? undefined : await this.enterKey(keyId, ofKey, mayWait);
      return () => {
        leaveModel?.();
        leaveKey?.();
      };
    } catch (error) {
      leaveModel?.();
      throw error;
    }
  }

  private async enterModel(modelId: string, max: number, mayWait: boolean): Promise<Leave> {
    let underWay = this.ofModels.get(modelId);
    if (underWay === undefined) this.ofModels.set(modelId, (underWay = new UnderWay()));
    // What is under way may join the queue, may start at once, or may fail.
    while (this.index.depth(modelId) + underWay.count >= max) {
      if (this.index.depth(modelId) >= max || !mayWait) throw fullModel(modelId, max);
      await underWay.oneIsOver();
    }
    return underWay.begin();
  }

  private async enterKey(keyId: string, max: number, mayWait: boolean): Promise<Leave> {
    let key = this.ofKeys.get(keyId, 0);
    if (key === undefined) this.ofKeys.set(keyId, (key = new KeyCount()), Infinity);
    for (let isCounted = false; ; isCounted = true) {
      const now = performance.now();
      if (now < key.freshUntil && key.waiting + key.since < max) {
        key.since++;
        return key.underWay.begin();
      }
      const isSure = isCounted && (key.since === 0 || !mayWait);
      if (isSure || now < key.restsUntil) throw full(`${max} requests of this key wait, and no more may.`);
      await (key.counting ??= this.count(key, keyId, max, mayWait));
    }
  }

  private async count(key: KeyCount, keyId: string, max: number, mayWait: boolean): Promise<void> {
    try {
      while (mayWait && key.underWay.count > 0) await key.underWay.oneIsOver();
      const isOver = key.since - key.underWay.count;
      const startedAt = performance.now();
      key.waiting = await countWaitingOf(this.database, keyId, max);
      key.since -= isOver;
      const now = performance.now();
      key.freshUntil = now + countedForMs;
      if (now - startedAt > cheapCountMs) key.restsUntil = now + (now - startedAt) * restPerCount;
    } finally {
      key.counting = undefined;
    }
  }
}

function full(reason: string): DomainError {
  const options = { retryAfterSeconds: fullRetryAfterSeconds };
  return new DomainError('queue_full', `${reason} Try again once some have started.`, options);
}

function fullModel(modelId: string, max: number): DomainError {
  return full(`${max} requests wait for ${modelId}, and no more may.`);
}

function paused(modelId: string): DomainError {
  const detail = `The model ${modelId} is paused by the operator, and takes no requests until it is resumed.`;
  return new DomainError('model_paused', detail, { retryAfterSeconds: pausedRetryAfterSeconds });
}
