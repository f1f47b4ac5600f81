import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Subject } from 'rxjs';
import { parseRateLimits } from '../config/parsers.js';
import type { RateLimits } from '../config/rate-limits.js';
import { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../errors/database-error.js';
import { Batcher } from '../tools/batcher.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import type { Caller } from './caller.js';
import { countKeyChanges } from './queries/count-key-changes.js';
import { KnownObservers } from './known-observers.js';
import { findKeys, type FoundKey } from './queries/find-keys.js';
import { touchKeys } from './queries/touch-keys.js';

/** Less than the 5 s within which a revocation must reach every node, counted from before the look. */
const currentMs = 4_500;
/** A key that did not change is read again after this time, and its use is noted then. */
const knownMs = 60_000;
const unknownMs = 1_000;
const noteUseMs = 1_000;

/**
 * Finds the caller behind a key's hash: from memory while no key was changed, otherwise with one statement for all
 * hashes that are asked for at once.
 */
@Injectable()
export class CallerFinder implements BeforeApplicationShutdown {
  /** Emits when a key or a session was changed, here or on another node. */
  readonly changed = new Subject<void>();
  private readonly logger = new Logger(CallerFinder.name);
  private readonly known = new BoundedCache<Caller>(20_000);
  /** Separate from the known keys, so that a flood of invented keys cannot push valid ones out. */
  private readonly unknown = new BoundedCache<true>(10_000);
  private readonly observers = new KnownObservers();
  /** The key changes that the known keys include, and the time at which they were read. */
  private changes = '';
  private changesReadAt = -Infinity;
  private currentUntil = -Infinity;
  private look: Promise<void> | undefined;
  /** The time at which this node itself changed something. A look that began before may not see it. */
  private changedAt = -Infinity;
  private readonly searches = new Map<string, Promise<Caller | undefined>>();
  private readonly batches = new Batcher((hashes: string[]) => this.search(hashes), {
    maxItems: 500,
    writers: 2,
    itemsBehind: 8,
  });
  /** Ids of keys whose last use is to be written. */
  private readonly used = new Set<string>();
  private noteTimer: NodeJS.Timeout | undefined;

  constructor(private readonly database: Database) {}

  /** undefined: the key is unknown, revoked or expired. Synchronous from memory. */
  find(hash: string): Caller | undefined | Promise<Caller | undefined> {
    const now = performance.now();
    if (now < this.currentUntil) return this.findCurrent(hash, now);
    this.look ??= this.lookForChanges();
    return this.look.then(() => this.findCurrent(hash, performance.now()));
  }

  /** Without the database: returns the caller behind a key that may observe, as it was last looked up. */
  findWithoutDatabase(hash: string): Caller | undefined {
    return this.observers.get(hash, performance.now());
  }

  private findCurrent(hash: string, now: number): Caller | undefined | Promise<Caller | undefined> {
    const caller = this.known.get(hash, now);
    if (caller !== undefined) return caller;
    if (this.unknown.get(hash, now) === true) return undefined;
    let search = this.searches.get(hash);
    if (search === undefined) {
      const added = this.batches.add(hash).finally(() => {
        if (this.searches.get(hash) === added) this.searches.delete(hash);
      });
      this.searches.set(hash, (search = added));
    }
    return search;
  }

  /** A change of a key or a session is committed. On this node it applies from the next call on. */
  lookAgain(): void {
    this.changedAt = performance.now();
    this.currentUntil = -Infinity;
    this.look = undefined;
    this.searches.clear();
    this.changed.next();
    this.recheckObservers();
  }

  /** Afterwards, what is known is no older than this. */
  async freshen(maxAgeMs: number): Promise<void> {
    if (performance.now() - maxAgeMs < this.currentUntil - currentMs) return;
    await (this.look ??= this.lookForChanges());
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.noteTimer);
    if (this.used.size > 0) await this.noteUse();
  }

  private async lookForChanges(): Promise<void> {
    const startedAt = performance.now();
    try {
      this.noteChanges(await countKeyChanges(this.database), startedAt);
    } finally {
      if (startedAt > this.changedAt) this.look = undefined;
    }
    if (startedAt > this.changedAt) this.currentUntil = startedAt + currentMs;
  }

  /** Ignores what was read before a later change. A later read finds fewer changes if a failover has lost some. */
  private noteChanges(changes: string, startedAt: number): void {
    if (changes === this.changes) return;
    if (startedAt <= this.changesReadAt && countOf(changes) <= countOf(this.changes)) return;
    this.changes = changes;
    this.changesReadAt = performance.now();
    this.known.forget(() => true);
    this.changed.next();
    this.recheckObservers();
  }

  private recheckObservers(): void {
    for (const hash of this.observers.takeAll()) this.batches.add(hash).catch(() => undefined);
  }

  private async search(hashes: string[]): Promise<(Caller | undefined)[]> {
    const startedAt = performance.now();
    const keys = new Map((await findKeys(this.database, hashes)).map((key) => [key.hash, key]));
    for (const { id, wasUnused, changes } of keys.values()) {
      if (wasUnused) this.used.add(id);
      this.noteChanges(changes, startedAt);
    }
    if (this.used.size > 0) this.noteTimer ??= setTimeout(() => void this.noteUse(), noteUseMs).unref();
    return hashes.map((hash) => {
      const key = keys.get(hash);
      if (key === undefined) {
        this.observers.note(hash, undefined, startedAt);
        this.unknown.set(hash, true, startedAt + unknownMs);
        return undefined;
      }
      const caller = toCaller(key);
      const until = startedAt + Math.min(knownMs, key.livesMs ?? Infinity);
      if (key.changes !== this.changes) return caller;
      this.known.set(hash, caller, until);
      this.observers.note(hash, caller, startedAt, key.livesMs);
      return caller;
    });
  }

  /**
   * Writes the last use of keys. A key in use is looked up again and again, so a lost note costs a minute of accuracy.
   */
  private async noteUse(): Promise<void> {
    this.noteTimer = undefined;
    const ids = [...this.used];
    this.used.clear();
    try {
      await touchKeys(this.database, ids);
    } catch (error) {
      if (!isDatabaseUnavailable(error))
        this.logger.warn({ err: error }, 'the last use of keys could not be stored');
    }
  }
}

const countOf = (changes: string): number => Number.parseInt(changes, 10);

type KeyColumns = Omit<FoundKey, 'changes' | 'hash' | 'livesMs' | 'wasUnused' | 'sessionId'> & {
  sessionId?: string | null;
};

export function toCaller(key: KeyColumns): Caller {
  const caller = {
    keyId: key.id,
    name: key.name,
    scopes: key.scopes,
    models: key.models,
    rateLimitSubmit: readLimits(key.rateLimitSubmit),
    rateLimitOther: readLimits(key.rateLimitOther),
    rateLimitBatch: readLimits(key.rateLimitBatch),
    maxPriority: key.maxPriority ?? 'high',
    maxWaiting: key.maxWaiting,
    maxRunning: key.maxRunning,
    weight: key.weight,
  };
  return typeof key.sessionId === 'string' ? { ...caller, sessionId: key.sessionId } : caller;
}

/** Limits that were written by hand and cannot be read must not lift the service's own limits. */
function readLimits(text: string | null): RateLimits | null {
  try {
    return text === null ? null : parseRateLimits(text);
  } catch {
    return null;
  }
}
