/** Longer than any message between nodes may be late. */
const keepMs = 15_000;

/** Keeps the highest number that was added for each entry: for 15 s, or up to 30 s while others are added. */
export class RecentNumbers {
  // Two generations instead of a time for each number: a busy process adds tens of thousands a second.
  private recent = new Map<number, number>();
  private older = new Map<number, number>();
  private turnedAt = performance.now();

  get(seq: number): number | undefined {
    return this.recent.get(seq) ?? this.older.get(seq);
  }

  add(seq: number, value: number): void {
    const highest = Math.max(value, this.get(seq) ?? value);
    const now = performance.now();
    if (now - this.turnedAt >= keepMs) {
      this.turnedAt = now;
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(seq, highest);
  }
}
