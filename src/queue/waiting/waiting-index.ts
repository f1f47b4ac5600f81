import { Injectable } from '@nestjs/common';
import { type Advance, ticksOfWeight1 } from './fair-queue.js';
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
  /** Whose turn it takes, where it is added; 0: nobody's. */
  orderKey?: number | null;
}

/** An entry whose virtual start is earlier now: `start`, and it was `from`. */
export interface MovedEntry extends EntryChange {
  from: number;
}

/** Where the order of a model and priority has come to. */
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
 * All waiting requests, for exact positions at any depth, and the order of those to come. Changes may come in any order
 * and twice: a late message cannot bring back what was removed, or take back what moved.
 */
@Injectable()
export class WaitingIndex {
  private queues = new ModelQueues();
  /** The index being filled anew beside the one in use; both follow every change. */
  private refilled: ModelQueues | undefined;
  /** Of what was removed, at which attempt: its tombstone. */
  private readonly removedAttempts = new RecentNumbers(Math.max);
  /** Of what was moved, where it is. */
  private readonly movedTo = new RecentNumbers(Math.min);
  /** Of what is being moved here, where it is until then: its row may say already where it will be. */
  private readonly movingFrom = new Map<number, number>();

  /** `isRead`: from the table, and not just placed. */
  add(entry: EntryChange, isRead = false, isHeld = false): void {
    const { modelId, priority, seq, attempt, orderKey } = entry;
    if (attempt <= (this.removedAttempts.get(seq) ?? -1)) return;
    const isNew = attempt === 0 && !isRead;
    for (const queues of this.both()) {
      const queue = queues.at(modelId, priority);
      queue.add(this.placeOf(entry), orderKey ?? 0, isNew);
      if (isHeld) queue.held.add(this.placeOf(entry).start, seq, orderKey ?? 0);
      if (isHeld) queues.hold(modelId, seq);
    }
  }

  /** Of several moves, in any order, the one to the earliest place counts. */
  move(entry: MovedEntry): void {
    const { modelId, priority, seq, attempt, from, orderKey } = entry;
    const before = this.movedTo.get(seq) ?? from;
    const place = this.placeOf(entry);
    this.movedTo.add(seq, place.start);
    const isRemoved = attempt <= (this.removedAttempts.get(seq) ?? -1);
    for (const start of new Set([from, before])) {
      if (start === place.start) continue;
      for (const queues of this.both()) {
        const queue = queues.at(modelId, priority);
        if (isRemoved) queue.remove({ start, seq }, false);
        else queue.move(place, start, orderKey ?? 0);
      }
    }
  }

  /** Before their rows change; `endMoves` once they are published, or are not. */
  beginMoves(moves: readonly Advance[]): void {
    for (const { seq, from } of moves) this.movingFrom.set(seq, from);
  }

  endMoves(moves: readonly Advance[]): void {
    for (const { seq } of moves) this.movingFrom.delete(seq);
  }

  /** It keeps its place; added where it is new. */
  hold(entry: EntryChange, isRead = false): void {
    this.add(entry, isRead, true);
  }

  release(entry: EntryChange): void {
    for (const queues of this.both()) {
      queues.at(entry.modelId, entry.priority).held.remove(this.placeOf(entry).start, entry.seq);
      queues.release(entry.modelId, entry.seq);
    }
  }

  remove(entry: EntryChange, isStarted = false): void {
    const { modelId, priority, seq, attempt } = entry;
    this.removedAttempts.add(seq, attempt);
    for (const queues of this.both()) {
      queues.at(modelId, priority).remove(this.placeOf(entry), isStarted);
      queues.release(modelId, seq);
    }
  }

  /** The virtual start of a submission; `settle` once it is written or is not. */
  reserve(modelId: string, priority: number, orderKey: number, ticks: number): number {
    return this.queues.at(modelId, priority).reserve(orderKey, ticks);
  }

  settle(modelId: string, priority: number, orderKey: number): void {
    this.queues.at(modelId, priority).settle(orderKey);
  }

  virtualTime(modelId: string, priority: number): number {
    return this.queues.at(modelId, priority).time;
  }

  /** Where the queue begins and ends, in virtual time. */
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

  /** How many requests of the model will be started before the one with this key, as far as nothing more comes. */
  position(key: QueueKey): number {
    const from = this.movingFrom.get(key.seq);
    const place = from === undefined ? this.placeOf(key) : { start: from, seq: key.seq };
    // What is held waits for its own key; nobody else waits for it.
    const isHeld = this.isHeld(key);
    let ahead = 0;
    for (const [priority, queue] of this.queues.models.get(key.modelId) ?? []) {
      if (priority < key.priority) ahead += queue.claimable(isHeld);
      else if (priority === key.priority) ahead += queue.rank(place, isHeld);
    }
    return ahead;
  }

  /** What waits of these order keys and could be further in front; `ticks`: of each. */
  advances(modelId: string, priority: number, ticks: ReadonlyMap<number, number>, max: number): Advance[] {
    return this.queues.at(modelId, priority).advances(ticks, max);
  }

  head(modelId: string): QueueKey | undefined {
    let head: QueueKey | undefined;
    for (const [priority, queue] of this.queues.models.get(modelId) ?? []) {
      const first = priority < (head?.priority ?? Infinity) ? queue.first() : undefined;
      if (first !== undefined) head = { modelId, priority, ...first };
    }
    return head;
  }

  /** Of each model and priority, what was submitted first. */
  oldest(): QueueKey[] {
    return this.queues.all().flatMap(([modelId, priority, queue]) => {
      const oldest = queue.oldest();
      return oldest === undefined ? [] : [{ modelId, priority, ...oldest }];
    });
  }

  get isEmpty(): boolean {
    return this.queues.all().every(([, , { size }]) => size === 0);
  }

  /** Of models with something waiting. */
  depths(): Map<string, number> {
    const ids = [...this.queues.models.keys()];
    return new Map(ids.map((id) => [id, this.depth(id)] as const).filter(([, depth]) => depth > 0));
  }

  depth(modelId: string): number {
    let depth = 0;
    for (const queue of this.queues.models.get(modelId)?.values() ?? []) depth += queue.size;
    return depth;
  }

  /** Where keys take turns: how many of each wait, by `orderKeyOf`. */
  waitingByKey(modelId: string): Map<number, number> {
    const waiting = new Map<number, number>();
    for (const queue of this.queues.models.get(modelId)?.values() ?? [])
      for (const [key, count] of queue.waitingByKey()) waiting.set(key, (waiting.get(key) ?? 0) + count);
    return waiting;
  }

  /** Of these, how many no claim may take yet. */
  heldByKey(modelId: string): Map<number, number> {
    const held = new Map<number, number>();
    for (const queue of this.queues.models.get(modelId)?.values() ?? [])
      for (const [key, count] of queue.held.byKey) held.set(key, (held.get(key) ?? 0) + count);
    return held;
  }

  /** How many a claim may find, as far as is known here. */
  claimable(modelId: string): number {
    return this.depth(modelId) - this.heldOf(modelId);
  }

  /** How many of those that wait no claim may take yet. */
  heldOf(modelId: string): number {
    return this.queues.held.get(modelId)?.size ?? 0;
  }

  /** Whether no claim may take it yet. */
  isHeld({ modelId, seq }: Pick<QueueKey, 'modelId' | 'seq'>): boolean {
    return this.queues.held.get(modelId)?.has(seq) === true;
  }

  get holdsAny(): boolean {
    return this.queues.held.size > 0;
  }

  /** From now on entries are also collected afresh, and `endRefill` puts those in the place of the old. */
  beginRefill(): void {
    this.refilled = new ModelQueues();
  }

  endRefill(): void {
    if (this.refilled === undefined) return;
    for (const [modelId, priority, queue] of this.queues.all())
      this.refilled.at(modelId, priority).adopt(queue);
    this.queues = this.refilled;
    this.refilled = undefined;
    // Of a process that has just begun: what is started next is about one turn further.
    for (const [, , queue] of this.queues.all())
      if (queue.time === 0) queue.advance((queue.first()?.start ?? 0) - ticksOfWeight1);
  }

  private placeOf({ start, seq }: Place): Place {
    return { start: Math.min(start, this.movedTo.get(seq) ?? start), seq };
  }

  private both(): ModelQueues[] {
    return this.refilled === undefined ? [this.queues] : [this.queues, this.refilled];
  }
}
