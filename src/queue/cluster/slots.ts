import { Injectable } from '@nestjs/common';

/** The number of runs of each model that this node may have in progress: its grant of the model's concurrency. */
@Injectable()
export class Slots {
  private readonly limits = new Map<string, number>();
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
    return Math.max(0, this.limit(modelId) - this.inUse(modelId));
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

  /** Nothing may start until slots are granted again. */
  withdraw(): void {
    this.limits.clear();
    this.grants.clear();
    this.generation++;
  }
}
