import { Injectable } from '@nestjs/common';
import { OrderedSet } from './ordered-set.js';
import { Tombstones } from './tombstones.js';

/** Orders the waiting requests of a model: lower priority first, then lower seq. */
export interface QueueKey {
  modelId: string;
  priority: number;
  seq: number;
}

/** An entry that is added to a queue or removed; `attempt` counts the runs of its request when it was added. */
export interface EntryChange extends QueueKey {
  attempt: number;
}

type ModelQueues = Map<string, Map<number, OrderedSet>>;

/**
 * All waiting requests, for exact positions at any depth. Changes may arrive in any order and more than once: an entry
 * is known by its key and its attempt, and a late message cannot bring back one that was removed.
 */
@Injectable()
export class WaitingIndex {
  private models: ModelQueues = new Map();
  /** The index being filled anew beside the one in use; both follow every change. */
  private refilled: ModelQueues | undefined;
  private readonly tombstones = new Tombstones();

  add({ modelId, priority, seq, attempt }: EntryChange): void {
    const removedAttempt = this.tombstones.attempt(seq);
    if (removedAttempt !== undefined && attempt <= removedAttempt) return;
    addTo(this.models, modelId, priority, seq);
    if (this.refilled !== undefined) addTo(this.refilled, modelId, priority, seq);
  }

  remove({ modelId, priority, seq, attempt }: EntryChange): void {
    this.tombstones.add(seq, attempt);
    removeFrom(this.models, modelId, priority, seq);
    if (this.refilled !== undefined) removeFrom(this.refilled, modelId, priority, seq);
  }

  /** How many requests of the model will be started before the one with this key. */
  position({ modelId, priority, seq }: QueueKey): number {
    let ahead = 0;
    for (const [other, queue] of this.models.get(modelId) ?? []) {
      if (other < priority) ahead += queue.size;
      else if (other === priority) ahead += queue.rank(seq);
    }
    return ahead;
  }

  head(modelId: string): QueueKey | undefined {
    let head: QueueKey | undefined;
    for (const [priority, queue] of this.models.get(modelId) ?? []) {
      const seq = queue.first();
      if (seq !== undefined && (head === undefined || priority < head.priority))
        head = { modelId, priority, seq };
    }
    return head;
  }

  /** The first of each model and priority. */
  heads(): QueueKey[] {
    return [...this.models].flatMap(([modelId, queues]) =>
      [...queues].map(([priority, queue]) => ({ modelId, priority, seq: queue.first()! })),
    );
  }

  get isEmpty(): boolean {
    return this.models.size === 0;
  }

  depths(): Map<string, number> {
    return new Map([...this.models.keys()].map((modelId) => [modelId, this.depth(modelId)]));
  }

  depth(modelId: string): number {
    let depth = 0;
    for (const queue of this.models.get(modelId)?.values() ?? []) depth += queue.size;
    return depth;
  }

  /** From now on entries are also collected afresh, and `endRefill` puts those in the place of the old. */
  beginRefill(): void {
    this.refilled = new Map();
  }

  endRefill(): void {
    this.models = this.refilled ?? this.models;
    this.refilled = undefined;
  }
}

function addTo(queues: ModelQueues, modelId: string, priority: number, seq: number): void {
  let priorities = queues.get(modelId);
  if (priorities === undefined) queues.set(modelId, (priorities = new Map<number, OrderedSet>()));
  let queue = priorities.get(priority);
  if (queue === undefined) priorities.set(priority, (queue = new OrderedSet()));
  queue.add(seq);
}

function removeFrom(queues: ModelQueues, modelId: string, priority: number, seq: number): void {
  const priorities = queues.get(modelId);
  const queue = priorities?.get(priority);
  if (queue?.remove(seq) !== true || queue.size > 0) return;
  priorities!.delete(priority);
  if (priorities!.size === 0) queues.delete(modelId);
}
