import { Injectable } from '@nestjs/common';
import { parseRateLimits } from '../config/parsers.js';
import type { RateLimits } from '../config/rate-limits.js';
import { Database } from '../database/database.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import type { Caller } from './caller.js';
import { findKeys, type FoundKey } from './queries/find-keys.js';

/** Under the 5 s within which a revocation must reach every node, counted from before the look-up. */
const knownMs = 4_500;
const unknownMs = 1_000;
const maxBatch = 500;

interface Search {
  hash: string;
  resolve(caller: Caller | undefined): void;
  reject(error: unknown): void;
}

/** Finds the caller behind a key's hash: from memory, or with one statement for all that are asked for at once. */
@Injectable()
export class CallerFinder {
  private readonly known = new BoundedCache<Caller>(20_000);
  /** Apart from the known, so that a flood of invented keys cannot push valid ones out. */
  private readonly unknown = new BoundedCache<true>(10_000);
  private readonly searches = new Map<string, Promise<Caller | undefined>>();
  private waiting: Search[] = [];
  private searching = false;
  /** Rises with every change to the keys: what was read before it is not remembered after it. */
  private generation = 0;

  constructor(private readonly database: Database) {}

  /** At once from memory. */
  find(hash: string): Caller | undefined | Promise<Caller | undefined> {
    const now = performance.now();
    const caller = this.known.get(hash, now);
    if (caller !== undefined) return caller;
    if (this.unknown.get(hash, now) === true) return undefined;
    return this.searches.get(hash) ?? this.search(hash);
  }

  /** Called after a change to the keys: from here on every answer is read anew. */
  forget(): void {
    this.generation++;
    this.known.clear();
    this.unknown.clear();
    this.searches.clear();
  }

  private search(hash: string): Promise<Caller | undefined> {
    const search = new Promise<Caller | undefined>((resolve, reject) => {
      this.waiting.push({ hash, resolve, reject });
    });
    this.searches.set(hash, search);
    void this.run();
    return search;
  }

  private async run(): Promise<void> {
    if (this.searching) return;
    this.searching = true;
    while (this.waiting.length > 0) await this.runBatch(this.waiting.splice(0, maxBatch));
    this.searching = false;
  }

  private async runBatch(batch: readonly Search[]): Promise<void> {
    const { generation } = this;
    const startedAt = performance.now();
    try {
      const found = new Map(
        (await findKeys(this.database, [...new Set(batch.map(({ hash }) => hash))])).map((key) => [
          key.hash,
          key,
        ]),
      );
      for (const { hash, resolve } of batch) {
        const key = found.get(hash);
        const caller = key && toCaller(key);
        if (generation === this.generation) this.remember(hash, caller, startedAt, key?.livesMs ?? Infinity);
        resolve(caller);
      }
    } catch (error) {
      // Those that wait behind a lost database would fare no better, only later.
      const searches = [...batch, ...this.waiting.splice(0)];
      if (generation === this.generation) for (const { hash } of searches) this.searches.delete(hash);
      for (const { reject } of searches) reject(error);
    }
  }

  private remember(hash: string, caller: Caller | undefined, startedAt: number, livesMs: number): void {
    this.searches.delete(hash);
    if (caller === undefined) this.unknown.set(hash, true, startedAt + unknownMs);
    else this.known.set(hash, caller, startedAt + Math.min(knownMs, livesMs));
  }
}

function toCaller(key: FoundKey): Caller {
  return {
    keyId: key.id,
    scopes: key.scopes,
    models: key.models,
    rateLimitSubmit: readLimits(key.rateLimitSubmit),
    rateLimitOther: readLimits(key.rateLimitOther),
  };
}

/** Limits that were written by hand and cannot be read are no reason to lift the service's own. */
function readLimits(text: string | null): RateLimits | null {
  if (text === null) return null;
  try {
    return parseRateLimits(text);
  } catch {
    return null;
  }
}
