import { Injectable } from '@nestjs/common';

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
  private readonly used = new Map<string, number>();
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
    return [...this.used].flatMap(([modelId, count]) => (count > 0 ? [modelId] : []));
  }

  free(modelId: string): number {
    const free = Math.max(0, this.limit(modelId) - this.inUse(modelId));
    const group = this.groups.get(modelId);
    return group === undefined ? free : Math.min(free, this.freeOfGroup(group));
  }

  inUse(modelId: string): number {
    return this.used.get(modelId) ?? 0;
  }

  take(modelId: string, count: number): void {
    this.used.set(modelId, this.inUse(modelId) + count);
  }

  release(modelId: string, count = 1): void {
    this.used.set(modelId, this.inUse(modelId) - count);
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
    this.generation++;
  }

  private freeOfGroup(group: string): number {
    let inUse = 0;
    for (const [modelId, its] of this.groups) if (its === group) inUse += this.inUse(modelId);
    return Math.max(0, (this.groupLimits.get(group) ?? 0) - inUse);
  }
}
