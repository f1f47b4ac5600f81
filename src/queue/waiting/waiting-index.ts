import { Injectable } from '@nestjs/common';
import { OrderedSet } from './ordered-set.js';
import type { Place } from './queue-key.js';
import { Tombstones } from './tombstones.js';

/** A request that enters or leaves a line; `attempt` counts its runs so far when it entered. */
export interface LineChange extends Place {
  attempt: number;
}

/** model → priority → seqs. */
type ModelLines = Map<string, Map<number, OrderedSet>>;

/**
 * Who waits for what, in memory, for exact positions at any depth. Fed by the node's own changes and by what
 * other nodes tell. Changes may arrive in any order and more than once: an entry is known by its place and its
 * attempt, and one that has left cannot come back by a message that was late.
 */
@Injectable()
export class Lines {
  private models: ModelLines = new Map();
  /** The lines being filled anew beside the ones in use; both follow every change. */
  private refilled: ModelLines | undefined;
  private readonly left = new Tombstones();

  enter({ modelId, priority, seq, attempt }: LineChange): void {
    const leftAt = this.left.attempt(seq);
    if (leftAt !== undefined && attempt <= leftAt) return;
    add(this.models, modelId, priority, seq);
    if (this.refilled !== undefined) add(this.refilled, modelId, priority, seq);
  }

  leave({ modelId, priority, seq, attempt }: LineChange): void {
    this.left.add(seq, attempt);
    remove(this.models, modelId, priority, seq);
    if (this.refilled !== undefined) remove(this.refilled, modelId, priority, seq);
  }

  /** How many requests of the model will be started before the one at this place. */
  position({ modelId, priority, seq }: Place): number {
    let ahead = 0;
    for (const [other, line] of this.models.get(modelId) ?? []) {
      if (other < priority) ahead += line.size;
      else if (other === priority) ahead += line.rank(seq);
    }
    return ahead;
  }

  /** The place of the first in line; undefined when nobody waits. */
  head(modelId: string): Place | undefined {
    let head: Place | undefined;
    for (const [priority, line] of this.models.get(modelId) ?? []) {
      const seq = line.first();
      if (seq !== undefined && (head === undefined || priority < head.priority))
        head = { modelId, priority, seq };
    }
    return head;
  }

  /** How many wait, by model. */
  depths(): Map<string, number> {
    return new Map([...this.models.keys()].map((modelId) => [modelId, this.depth(modelId)]));
  }

  /** How many wait for the model. */
  depth(modelId: string): number {
    let depth = 0;
    for (const line of this.models.get(modelId)?.values() ?? []) depth += line.size;
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

function add(lines: ModelLines, modelId: string, priority: number, seq: number): void {
  let priorities = lines.get(modelId);
  if (priorities === undefined) lines.set(modelId, (priorities = new Map<number, OrderedSet>()));
  let line = priorities.get(priority);
  if (line === undefined) priorities.set(priority, (line = new OrderedSet()));
  line.add(seq);
}

function remove(lines: ModelLines, modelId: string, priority: number, seq: number): void {
  const priorities = lines.get(modelId);
  const line = priorities?.get(priority);
  if (line?.remove(seq) !== true || line.size > 0) return;
  priorities!.delete(priority);
  if (priorities!.size === 0) lines.delete(modelId);
}
