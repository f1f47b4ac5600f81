import { Injectable } from '@nestjs/common';

/** The ranks of the priorities. */
export const highest = -1;
export const lowest = 1;

/** Slots that runs below high, and below normal, may use. */
export interface SlotsBelow {
  /** No other node may have them, including those to be given back. */
  slots: [number, number];
  /** Runs that start from now on may use these. */
  limits: [number, number];
}

/**
 * The number of runs of each model that this node may have in progress: its grant of the model's concurrency, and for
 * models of a group also of the group's.
 */
@Injectable()
export class Slots {
  private readonly limits = new Map<string, number>();
  /** By group. */
  private readonly groupLimits = new Map<string, number>();
  /** The group of each model that has one, as the database had it when the slots were granted. */
  private readonly groups = new Map<string, string>();
  private readonly grants = new Map<string, { slots: number; round: number }>();
  /** The slots that runs below high, and below normal, may use; a model without an entry reserves none. */
  private readonly below = new Map<string, SlotsBelow>();
  /** The runs of each model by priority, high first. */
  private readonly used = new Map<string, [number, number, number]>();
  /** Changes with each withdrawal, so that a grant asked for before it is void. */
  generation = 0;

  limit(modelId: string): number {
    return this.limits.get(modelId) ?? 0;
  }

  /** Slots that no other node may have, including those to be given back once their runs have ended. */
  granted(modelId: string): number {
    return this.grants.get(modelId)?.slots ?? 0;
  }

  /** The round in which the slots were granted. */
  round(modelId: string): number {
    return this.grants.get(modelId)?.round ?? 0;
  }

  /** Models with a run in progress. */
  get modelsInUse(): string[] {
    return [...this.used.keys()].filter((modelId) => this.inUse(modelId) > 0);
  }

  /** Returns how many runs of this priority may start. */
  free(modelId: string, priority: number): number {
    let free = this.limit(modelId) - this.inUse(modelId);
    const below = this.below.get(modelId);
    if (below !== undefined && priority > highest)
      free = Math.min(free, below.limits[0] - this.inUse(modelId, 0));
    if (below !== undefined && priority === lowest)
      free = Math.min(free, below.limits[1] - this.inUse(modelId, lowest));
    return Math.max(0, Math.min(free, this.freeInGroup(modelId)));
  }

  /** Returns how many runs of any model may start in the group of this one. */
  freeInGroup(modelId: string): number {
    const group = this.groups.get(modelId);
    if (group === undefined) return Infinity;
    let inUse = 0;
    for (const [member, its] of this.groups) if (its === group) inUse += this.inUse(member);
    return (this.groupLimits.get(group) ?? 0) - inUse;
  }

  /** Returns the lowest priority of which a run may start. */
  lowestFree(modelId: string): number {
    if (!this.below.has(modelId) || this.free(modelId, lowest) > 0) return lowest;
    return this.free(modelId, 0) > 0 ? 0 : highest;
  }

  /** Slots that runs below high, and below normal, may use, and that no other node may. */
  grantedBelow(modelId: string): [number, number] {
    const granted = this.granted(modelId);
    return this.below.get(modelId)?.slots ?? [granted, granted];
  }

  /** undefined: the model reserves no slots. */
  grantBelow(modelId: string, below: SlotsBelow | undefined): void {
    if (below === undefined) this.below.delete(modelId);
    else this.below.set(modelId, below);
  }

  /** Returns the number of runs of this priority and those below it. */
  inUse(modelId: string, priority = highest): number {
    const used = this.used.get(modelId);
    if (used === undefined) return 0;
    return used[2] + (priority < lowest ? used[1] : 0) + (priority === highest ? used[0] : 0);
  }

  take(modelId: string, count: number, priority: number): void {
    const used = this.used.get(modelId) ?? [0, 0, 0];
    used[(priority + 1) as 0 | 1 | 2] += count;
    this.used.set(modelId, used);
  }

  release(modelId: string, count: number, priority: number): void {
    this.take(modelId, -count, priority);
  }

  /** `limit`: at most this many of the granted slots may be used by runs that start from now on. */
  grant(modelId: string, slots: number, { limit = slots, round = this.round(modelId) } = {}): void {
    this.grants.set(modelId, { slots, round });
    this.limits.set(modelId, limit);
  }

  /** `group`: its models together have at most `limit` runs; null: the model has no group. */
  grantToGroup(modelId: string, group: string | null, limit: number): void {
    if (group === null) this.groups.delete(modelId);
    else {
      this.groups.set(modelId, group);
      this.groupLimits.set(group, limit);
    }
  }

  /** Nothing may start until slots are granted again. */
  withdraw(): void {
    this.limits.clear();
    this.grants.clear();
    this.groupLimits.clear();
    this.below.clear();
    this.generation++;
  }
}
