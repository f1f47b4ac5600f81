import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { BoundedCache } from '../../tools/bounded-cache.js';
import { countWaitingByKey } from '../waiting/queries/waiting.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { KeyBacklog } from './key-backlog.js';
import { KeyCounts } from './key-counts.js';
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

/** Called once, when admitted requests are written, or when their write has failed. */
export type Leave = () => void;

/** The result of requests that came together. */
export interface Entered {
  /** What refuses each request that is not admitted. */
  refusals: ReadonlyMap<Coming, DomainError>;
  leave: Leave;
}

const nothing = (): void => undefined;
const unbounded: WaitingBounds = { isPaused: false, ofModel: null, ofKey: null };

/**
 * Keeps the bounds of waiting requests. Within a process they are exact. Several processes may exceed a bound by what
 * each does not know of the others yet.
 */
@Injectable()
export class Backlog {
  private readonly ofModels = new Map<string, UnderWay>();
  private readonly ofKeys = new BoundedCache<KeyBacklog>(maxKeys);
  private readonly counts = new KeyCounts(() => countWaitingByKey(this.database));

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
   * Admits as many requests of one key as there is room for, in their order. If one comes alone, and requests that are
   * being written decide whether there is room, it waits for them, because they may still start at once. Of several,
   * none waits: requests that are being written count as waiting.
   */
  enter(items: readonly Coming[]): Promise<Entered> {
    return items.length === 1 ? this.enterAlone(items[0]!) : this.enterTogether(items);
  }

  /**
   * A call that waits for a model's room has its key's room already, and a request with both is written: there is no
   * deadlock.
   */
  private async enterAlone(item: Coming): Promise<Entered> {
    const { modelId, keyId, bounds = unbounded } = item;
    const { isPaused, ofModel, ofKey } = bounds;
    const refused = (refusal: DomainError): Entered => ({
      refusals: new Map([[item, refusal]]),
      leave: nothing,
    });
    if (isPaused) return refused(paused(modelId));
    const leaveKey = ofKey === null ? nothing : await this.ofKey(keyId, ofKey).enter();
    if (leaveKey === undefined) return refused(fullKey(ofKey!));
    const leaveModel = ofModel === null ? nothing : await this.enterModel(modelId, ofModel);
    if (leaveModel === undefined) {
      leaveKey();
      return refused(fullModel(modelId, ofModel!));
    }
    const leave = (): void => {
      leaveModel();
      leaveKey();
    };
    return { refusals: new Map(), leave };
  }

  /** There is no deadlock, because they take their room together. */
  private async enterTogether(items: readonly Coming[]): Promise<Entered> {
    const refusals = new Map<Coming, DomainError>();
    const leaves: Leave[] = [];
    const bounded = items.find(({ bounds }) => typeof bounds?.ofKey === 'number');
    const max = bounded?.bounds?.ofKey ?? 0;
    const key = bounded && this.ofKey(bounded.keyId, max);
    await key?.lookFor(items.length);
    // The room at this moment, for all of them.
    let room = key?.room ?? Infinity;
    for (const item of items) {
      const { modelId, bounds = unbounded } = item;
      const { isPaused, ofModel } = bounds;
      const underWay = ofModel === null ? undefined : this.ofModel(modelId);
      const waiting = underWay === undefined ? 0 : this.index.depth(modelId) + underWay.count;
      if (isPaused) refusals.set(item, paused(modelId));
      else if (room <= 0) refusals.set(item, fullKey(max));
      else if (ofModel !== null && waiting >= ofModel) refusals.set(item, fullModel(modelId, ofModel));
      else {
        room--;
        if (underWay !== undefined) leaves.push(underWay.begin());
        if (key !== undefined) leaves.push(key.take());
      }
    }
    return { refusals, leave: () => leaves.forEach((leave) => leave()) };
  }

  /** undefined: there is no room. */
  private async enterModel(modelId: string, max: number): Promise<Leave | undefined> {
    const underWay = this.ofModel(modelId);
    for (;;) {
      const depth = this.index.depth(modelId);
      if (depth >= max) {
        underWay.wake();
        return undefined;
      }
      if (depth + underWay.count < max) {
        const leave = underWay.begin();
        if (depth + underWay.count < max) underWay.wake();
        return leave;
      }
      await underWay.oneIsOver();
    }
  }

  private ofModel(modelId: string): UnderWay {
    let underWay = this.ofModels.get(modelId);
    if (underWay === undefined) this.ofModels.set(modelId, (underWay = new UnderWay()));
    return underWay;
  }

  private ofKey(keyId: string, max: number): KeyBacklog {
    const name = `${keyId} ${max}`;
    const key = this.ofKeys.get(name, 0) ?? new KeyBacklog(max, (onBegin) => this.counts.of(keyId, onBegin));
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
