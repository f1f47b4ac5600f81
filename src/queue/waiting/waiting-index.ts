import { Injectable } from '@nestjs/common';
import { type FairQueue, ticksOfWeight1 } from './fair-queue.js';
import { ModelQueues } from './model-queues.js';
import type { Place } from './ordered-set.js';
import { RecentNumbers } from './recent-numbers.js';

/** Orders the waiting requests of a model: lower priority first, then lower virtual start, then lower seq. */
export interface QueueKey extends Place {
  modelId: string;
  priority: number;
}

/** An entry that is added to a queue or removed; `attempt` counts the runs of its request when it was added. */
export interface EntryChange extends QueueKey {
  attempt: number;
  /** The key whose turn an added entry takes; 0: none. */
  orderKey?: number | null;
}

/** The virtual time of the queue of a model and priority. */
export interface VirtualTime {
  modelId: string;
  priority: number;
  time: number;
}

export interface Span {
  time: number;
  last: number;
}

/**
 * All waiting requests, for exact positions at any depth and for the places of later ones. Changes may come in any
 * order and twice: a late message cannot bring back a removed entry.
 */
@Injectable()
export class WaitingIndex {
  private queues = new ModelQueues();
  /** The index that is being filled while the old one is in use; both follow every change. */
  private refilled: ModelQueues | undefined;
  /** Tombstones: the attempt at which an entry was removed, by seq. */
  private readonly removedAttempts = new RecentNumbers();

  /** `isRead`: read from the table, not just placed. */
  add(entry: EntryChange, isRead = false, isHeld = false): void {
    const { modelId, priority, start, seq, attempt, orderKey } = entry;
    if (attempt <= (this.removedAttempts.get(seq) ?? -1)) return;
    const isNew = attempt === 0 && !isRead;
    for (const queues of this.both()) {
      const queue = queues.at(modelId, priority);
      queue.add(entry, orderKey ?? 0, isNew);
      if (isHeld) queue.held.add(start, seq, orderKey ?? 0);
    }
  }

  /** Holds an entry in its place; adds it if it is new. */
  hold(entry: EntryChange, isRead = false): void {
    this.add(entry, isRead, true);
  }

  release({ modelId, priority, start, seq }: EntryChange): void {
    for (const queues of this.both()) queues.at(modelId, priority).held.remove(start, seq);
  }

  remove(entry: EntryChange, isStarted = false): void {
    const { modelId, priority, seq, attempt } = entry;
    this.removedAttempts.add(seq, attempt);
    for (const queues of this.both()) queues.at(modelId, priority).remove(entry, isStarted);
  }

  /** Returns the virtual start of a submission. `settle` follows once it is written, or its write has failed. */
  reserve(modelId: string, priority: number, orderKey: number, ticks: number): number {
    return this.queues.at(modelId, priority).reserve(orderKey, ticks);
  }

  settle(modelId: string, priority: number, orderKey: number, start: number): void {
    this.queues.at(modelId, priority).settle(orderKey, start);
  }

  virtualTime(modelId: string, priority: number): number {
    return this.queues.at(modelId, priority).time;
  }

  /** Returns where the queue begins and ends, in virtual time. */
  span(modelId: string, priority: number): Span {
    const { time, last } = this.queues.at(modelId, priority);
    return { time, last };
  }

  virtualTimes(): VirtualTime[] {
    return this.queues.all().map(([modelId, priority, { time }]) => ({ modelId, priority, time }));
  }

  advance({ modelId, priority, time }: VirtualTime): void {
    this.queues.at(modelId, priority).advance(time);
  }

  /** Returns how many requests of the model will be started before the one with this key, if no more are added. */
  position(key: QueueKey): number {
    // A held request waits for others of its key; no other request waits for it.
    const isHeld = this.isHeld(key);
    let ahead = 0;
    for (const [priority, queue] of this.queues.models.get(key.modelId) ?? []) {
      if (priority < key.priority) ahead += queue.claimable(isHeld);
      else if (priority === key.priority) ahead += queue.rank(key, isHeld);
    }
    return ahead;
  }

  head(modelId: string): QueueKey | undefined {
    return this.firstOf(modelId, (queue) => queue.first());
  }

  /** Returns the first entry of the model that a claim may take. */
  next(modelId: string): QueueKey | undefined {
    return this.firstOf(modelId, (queue) => queue.firstClaimable());
  }

  /**
   * Returns about how many requests of the model would go before an entry of another model, if the longest wait went
   * first.
   */
  older(modelId: string, { priority, seq }: Pick<QueueKey, 'priority' | 'seq'>): number {
    let older = 0;
    for (const [other, queue] of this.queues.models.get(modelId) ?? []) {
      if (other < priority) older += queue.claimable();
      else if (other === priority) older += queue.older(seq);
    }
    return older;
  }

  /** Returns the entry of each model and priority that was submitted first. */
  oldest(): QueueKey[] {
    return this.queues.all().flatMap(([modelId, priority, queue]) => {
      const oldest = queue.oldest();
      return oldest === undefined ? [] : [{ modelId, priority, ...oldest }];
    });
  }

  get isEmpty(): boolean {
    return this.queues.all().every(([, , { size }]) => size === 0);
  }

  /** Returns how many requests wait, for each model with any. */
  depths(): Map<string, number> {
    const ids = [...this.queues.models.keys()];
    return new Map(ids.map((id) => [id, this.depth(id)] as const).filter(([, depth]) => depth > 0));
  }

  depth(modelId: string): number {
    let depth = 0;
    for (const queue of this.queues.models.get(modelId)?.values() ?? []) depth += queue.size;
    return depth;
  }

  /** Returns how many requests of each key wait, by `orderKeyOf`, if the model's keys take turns. */
  waitingByKey(modelId: string): Map<number, number> {
    const waiting = new Map<number, number>();
    for (const queue of this.queues.models.get(modelId)?.values() ?? [])
      for (const [key, count] of queue.waitingByKey()) waiting.set(key, (waiting.get(key) ?? 0) + count);
    return waiting;
  }

  /** Returns how many of these no claim may take yet. */
  heldByKey(modelId: string): Map<number, number> {
    const held = new Map<number, number>();
    for (const queue of this.queues.models.get(modelId)?.values() ?? [])
      for (const [key, count] of queue.held.byKey) held.set(key, (held.get(key) ?? 0) + count);
    return held;
  }

  /** How many requests a claim may find, as far as this node knows. */
  claimable(modelId: string): number {
    return this.depth(modelId) - this.heldOf(modelId);
  }

  /** How many requests of this priority or above a claim may find. */
  claimableUpTo(modelId: string, priority: number): number {
    let claimable = 0;
    for (const [other, queue] of this.queues.models.get(modelId) ?? [])
      if (other <= priority) claimable += queue.claimable();
    return claimable;
  }

  /** How many of the waiting requests no claim may take yet. */
  heldOf(modelId: string): number {
    let held = 0;
    for (const queue of this.queues.models.get(modelId)?.values() ?? []) held += queue.held.size;
    return held;
  }

  /** True if no claim may take it yet. */
  isHeld({ modelId, priority, start, seq }: QueueKey): boolean {
    return this.queues.models.get(modelId)?.get(priority)?.held.has(start, seq) === true;
  }

  get holdsAny(): boolean {
    return this.queues.all().some(([, , { held }]) => held.size > 0);
  }

  /** From now on, entries are also collected in a new index. `endRefill` puts it in place of the old one. */
  beginRefill(): void {
    this.refilled = new ModelQueues();
  }

  endRefill(): void {
    if (this.refilled === undefined) return;
    for (const [modelId, priority, queue] of this.queues.all())
      this.refilled.at(modelId, priority).adopt(queue);
    this.queues = this.refilled;
    this.refilled = undefined;
    // In a process that has just started: the next request to start is about one turn ahead of virtual time.
    for (const [, , queue] of this.queues.all())
      if (queue.time === 0) queue.advance((queue.first()?.start ?? 0) - ticksOfWeight1);
  }

  private firstOf(modelId: string, of: (queue: FairQueue) => Place | undefined): QueueKey | undefined {
    let found: QueueKey | undefined;
    for (const [priority, queue] of this.queues.models.get(modelId) ?? []) {
      const first = priority < (found?.priority ?? Infinity) ? of(queue) : undefined;
      if (first !== undefined) found = { modelId, priority, ...first };
    }
    return found;
  }

  private both(): ModelQueues[] {
    return this.refilled === undefined ? [this.queues] : [this.queues, this.refilled];
  }
}
