import { Injectable } from '@nestjs/common';

/** How many runs of each model this node may have going: what it was granted of the model's concurrency. */
@Injectable()
export class Slots {
  private readonly limits = new Map<string, number>();
  private readonly grants = new Map<string, { slots: number; round: number }>();
  private readonly used = new Map<string, number>();
  /** Differs after a withdrawal: what was asked for before it is void. */
  generation = 0;

  limit(modelId: string): number {
    return this.limits.get(modelId) ?? 0;
  }

  /** What nobody else may have: also slots that are to be given back once their runs have ended. */
  granted(modelId: string): number {
    return this.grants.get(modelId)?.slots ?? 0;
  }

  /** In which the slots were granted. */
  round(modelId: string): number {
    return this.grants.get(modelId)?.round ?? 0;
  }

  /** Models of which something runs. */
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

  /** `limit`: of those granted, so many may be in use by what starts from now on. */
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
