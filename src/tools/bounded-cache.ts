/** Values that hold until a time, at most `capacity` of them; the oldest makes room. Times as `performance.now()`. */
export class BoundedCache<Value> {
  private readonly entries = new Map<string, { value: Value; until: number }>();

  constructor(private readonly capacity: number) {}

  get(key: string, now: number): Value | undefined {
    const entry = this.entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > now) return entry.value;
    this.entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, until: number): void {
    this.entries.delete(key);
    if (this.entries.size >= this.capacity) {
      const oldest = this.entries.keys().next();
      if (oldest.done !== true) this.entries.delete(oldest.value);
    }
    this.entries.set(key, { value, until });
  }

  clear(): void {
    this.entries.clear();
  }
}
