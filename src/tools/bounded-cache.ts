/**
 * Values with an expiry, at most `capacity` of them. The oldest are evicted first. Times are those of
 * `performance.now()`.
 */
export class BoundedCache<Value> {
  private readonly entries = new Map<string, { value: Value; until: number }>();

  constructor(private readonly capacity: number) {}

  get(key: string, now: number): Value | undefined {
    const entry = this.entries.get(key);
    if (entry !== undefined && entry.until > now) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, until: number): void {
    this.entries.delete(key);
    if (this.entries.size >= this.capacity) this.makeRoom();
    this.entries.set(key, { value, until });
  }

  /**
   * Evicts several entries at once, because an iterator steps over all removed entries before the oldest. A kept
   * iterator would hold on to every table that the map has outgrown.
   */
  private makeRoom(): void {
    let excess = Math.ceil(this.capacity / 64);
    for (const key of this.entries.keys()) {
      if (excess-- === 0) return;
      this.entries.delete(key);
    }
  }

  /** All keys, including those of expired entries. */
  get keys(): string[] {
    return [...this.entries.keys()];
  }

  delete(key: string): void {
    this.entries.delete(key);
  }

  /** Checks all entries. */
  forget(isOver: (value: Value) => boolean): void {
    for (const [key, { value }] of this.entries) if (isOver(value)) this.entries.delete(key);
  }
}
