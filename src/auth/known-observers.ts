import { BoundedCache } from '../tools/bounded-cache.js';
import { type Caller, hasScope } from './caller.js';

/** So long after it was last looked up a key counts as valid where the database cannot be asked. */
const knownWithoutDatabaseMs = 24 * 3_600_000;
const capacity = 100;

/**
 * Keys that may observe, as they were when they were last looked up. While the database is away, its metrics are for
 * them: the alert that says so needs a scrape. Times as `performance.now()`.
 */
export class KnownObservers {
  private readonly callers = new BoundedCache<Caller>(capacity);

  get(hash: string, now: number): Caller | undefined {
    return this.callers.get(hash, now);
  }

  /** `livesMs`: until it expires; null: never. `caller` undefined: it is not valid. */
  note(hash: string, caller: Caller | undefined, at: number, livesMs: number | null = null): void {
    if (caller === undefined || caller.sessionId !== undefined || !hasScope(caller, 'observe'))
      this.callers.delete(hash);
    else this.callers.set(hash, caller, at + Math.min(knownWithoutDatabaseMs, livesMs ?? Infinity));
  }

  /** Some key has changed: none is known any more. The hashes of those that were, to be looked up again. */
  takeAll(): string[] {
    const hashes = this.callers.keys;
    this.callers.forget(() => true);
    return hashes;
  }
}
