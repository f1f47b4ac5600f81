import { OrderedSet } from './ordered-set.js';

/** The entries that no claim may take yet, and how many each key has. */
export class HeldEntries {
  private readonly entries = new OrderedSet();
  private readonly counts = new Map<number, number>();

  get size(): number {
    return this.entries.size;
  }

  get byKey(): ReadonlyMap<number, number> {
    return this.counts;
  }

  has(start: number, seq: number): boolean {
    return this.entries.has(start, seq);
  }

  rank(start: number, seq: number): number {
    return this.entries.rank(start, seq);
  }

  add(start: number, seq: number, key: number): void {
    if (this.entries.add(start, seq, key)) this.count(key, 1);
  }

  remove(start: number, seq: number): void {
    const key = this.entries.remove(start, seq);
    if (key !== undefined) this.count(key, -1);
  }

  private count(key: number, more: number): void {
    const count = (this.counts.get(key) ?? 0) + more;
    if (count === 0) this.counts.delete(key);
    else this.counts.set(key, count);
  }
}
