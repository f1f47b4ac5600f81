import { BoundedCache } from '../tools/bounded-cache.js';
import { type Caller, hasScope } from './caller.js';

/** Without the database, a key counts as valid for this long after it was last looked up. */
const knownWithoutDatabaseMs = 24 * 3_600_000;
const capacity = 100;

/**
 * Keys that may observe, as they were when they were last looked up. While the database is away, they may still read
 * the metrics, because the alert about it needs a scrape. Times are those of `performance.now()`.
 */
export class KnownObservers {
  private readonly callers = new BoundedCache<Caller>(capacity);

  get(hash: string, now: number): Caller | undefined {
    return this.callers.get(hash, now);
  }

  /** `livesMs`: milliseconds until it expires; null: never. `caller` undefined: the key is not valid. */
  note(hash: string, caller: Caller | undefined, at: number, livesMs: number | null = null): void {
    if (caller === undefined || caller.sessionId !== undefined || !hasScope(caller, 'observe'))
      this.callers.delete(hash);
    else this.callers.set(hash, caller, at + Math.min(knownWithoutDatabaseMs, livesMs ?? Infinity));
  }

  /** Forgets all keys, because some key has changed. Returns their hashes, which are to be looked up again. */
  takeAll(): string[] {
    const hashes = this.callers.keys;
    this.callers.forget(() => true);
    return hashes;
  }
}
