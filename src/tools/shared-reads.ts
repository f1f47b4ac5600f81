import { BoundedCache } from './bounded-cache.js';

interface Read<Value> {
  at: number;
  value: Promise<Value>;
}

/** What was read for one is handed to the next that asks for the same, if it may be that old. */
export class SharedReads<Value> {
  private readonly reads = new BoundedCache<Read<Value>>(100);

  /** No read is kept for longer than `keptMs`. */
  constructor(private readonly keptMs: number) {}

  get(name: string, maxAgeMs: number, read: () => Promise<Value>): Promise<Value> {
    const now = performance.now();
    const known = maxAgeMs > 0 ? this.reads.get(name, now) : undefined;
    if (known !== undefined && now - known.at < maxAgeMs) return known.value;
    const value = read();
    this.reads.set(name, { at: now, value }, now + this.keptMs);
    // What failed is tried again by the next that asks.
    value.catch(() => this.reads.forget((other) => other.value === value));
    return value;
  }
}
