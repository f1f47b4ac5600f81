import { BoundedCache } from './bounded-cache.js';

interface Read<Value> {
  at: number;
  value: Promise<Value>;
}

/** Shares a read between callers that request the same data, if each accepts its age. */
export class SharedReads<Value> {
  private readonly reads = new BoundedCache<Read<Value>>(100);

  /** A read is kept for at most `keptMs`. */
  constructor(private readonly keptMs: number) {}

  get(name: string, maxAgeMs: number, read: () => Promise<Value>): Promise<Value> {
    const now = performance.now();
    const known = maxAgeMs > 0 ? this.reads.get(name, now) : undefined;
    if (known !== undefined && now - known.at < maxAgeMs) return known.value;
    const value = read();
    this.reads.set(name, { at: now, value }, now + this.keptMs);
    // After a failed read, the next request reads again.
    value.catch(() => this.reads.forget((other) => other.value === value));
    return value;
  }
}
