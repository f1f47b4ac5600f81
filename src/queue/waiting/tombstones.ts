/** Longer than any message between nodes may be late. */
const keepMs = 15_000;

/** Entries that were removed, and at which attempt: for 15 s, or up to 30 s while others are removed. */
export class Tombstones {
  // Two generations, and no time with each: a busy process makes tens of thousands a second.
  private recent = new Map<number, number>();
  private older = new Map<number, number>();
  private turnedAt = performance.now();

  attempt(seq: number): number | undefined {
    return this.recent.get(seq) ?? this.older.get(seq);
  }

  add(seq: number, attempt: number): void {
    const known = this.attempt(seq);
    const now = performance.now();
    if (now - this.turnedAt >= keepMs) {
      this.turnedAt = now;
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(seq, Math.max(known ?? attempt, attempt));
  }
}
