/** Longer than any message between nodes may be late. */
const keepMs = 15_000;

/** Entries that were removed, and at which attempt: for 15 s at least, and at most for twice as long while others are removed. */
export class Tombstones {
  // Two generations, and no time with each: a busy process makes tens of thousands a second.
  private recent = new Map<number, number>();
  private older = new Map<number, number>();
  private turnedAt = performance.now();

  /** The highest attempt that was removed; undefined: not known. */
  attempt(seq: number): number | undefined {
    return this.recent.get(seq) ?? this.older.get(seq);
  }

  add(seq: number, attempt: number): void {
    const known = this.attempt(seq);
    this.turn();
    this.recent.set(seq, known === undefined ? attempt : Math.max(known, attempt));
  }

  private turn(): void {
    const now = performance.now();
    if (now - this.turnedAt < keepMs) return;
    this.turnedAt = now;
    this.older = this.recent;
    this.recent = new Map();
  }
}
