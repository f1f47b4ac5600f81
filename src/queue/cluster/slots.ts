import { Injectable } from '@nestjs/common';

/** How many runs of each model this node may have going: what it was granted of the model's concurrency. */
@Injectable()
export class Slots {
  private readonly limits = new Map<string, number>();
  private readonly used = new Map<string, number>();
  /** Differs after a withdrawal: what was asked for before it is void. */
  generation = 0;

  limit(modelId: string): number {
    return this.limits.get(modelId) ?? 0;
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

  setLimit(modelId: string, slots: number): void {
    this.limits.set(modelId, slots);
  }

  /** Nothing may start until slots are granted again. */
  withdraw(): void {
    this.limits.clear();
    this.generation++;
  }
}
