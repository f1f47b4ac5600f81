import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { RateLimits } from '../config/rate-limits.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { Admission, Standing } from './admission.js';
import { admit, type AdmitAsk, type AdmitRow } from './queries/admit.js';
import type { AlongRow } from './queries/admit-along.js';
import { Refusals } from './refusals.js';
import { Reserve, type Supply } from './reserve.js';
import { Usage, windowsAfter, type Increment } from './usage.js';

/** Most subjects in one statement, which holds the locks on all of them. */
const maxBatch = 200;
/** Callers whose rows are known, and for how long after the database last said what is in one. */
const knownRows = 1_000;
const knownForMs = 600_000;

/** Who is counted, and under which limits. */
export interface Claimant {
  subject: string;
  routeClass: string;
  limits: RateLimits;
}

/** How a call will be counted if the caller's row is still what it was. */
export interface Expected {
  usage: Usage;
  version: string;
  increment: Increment;
}

interface Asker {
  resolve(admission: Admission): void;
  reject(error: unknown): void;
}

interface Ask extends Claimant {
  supply: Supply | undefined;
  /** None: it fills the supply up. */
  askers: Asker[];
}

type StorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * Counts in PostgreSQL, so that a limit holds over all nodes and across restarts. What is asked while one
 * statement is under way goes into the next; an idle storage asks at once.
 */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage {
  private waiting = new Map<string, Ask>();
  private running = false;
  private readonly refusals = new Refusals();
  private readonly reserve = new Reserve();
  private readonly usages = new BoundedCache<Usage>(knownRows);

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /** Counts one call in every window, or in none if one of them is full. At once, where it is known. */
  admit(subject: string, routeClass: string, limits: RateLimits): Admission | Promise<Admission> {
    const claimant = { subject, routeClass, limits };
    return this.known(claimant) ?? this.count(claimant);
  }

  /** Counts a call from memory, if that can be: those that are refused for now, and those that were taken ahead. */
  known(claimant: Claimant): Admission | undefined {
    const { limits } = claimant;
    const key = keyOf(claimant);
    const now = performance.now();
    const refusal = this.refusals.find(key, limits, now);
    if (refusal !== undefined) return refusal;
    const supply = this.reserve.supply(key, limits, now);
    const taken = supply?.take(now);
    if (taken !== undefined && supply!.shouldAsk(now)) this.ask(key, { ...claimant, supply, askers: [] });
    return taken;
  }

  /** Counts a call with a statement, which it may share. */
  count(claimant: Claimant): Promise<Admission> {
    const key = keyOf(claimant);
    const supply = this.reserve.supply(key, claimant.limits, performance.now());
    return new Promise((resolve, reject) => {
      this.ask(key, { ...claimant, supply, askers: [] }, { resolve, reject });
    });
  }

  /** Whether a statement of its own is better for a call: one is under way, or it would take some ahead for the next. */
  countsApart(claimant: Claimant): boolean {
    const supply = this.reserve.supply(keyOf(claimant), claimant.limits, performance.now());
    return this.running || (supply?.spare ?? 0) > 1;
  }

  /** How one call more would be counted by a statement that does more. undefined: that is for the database to say. */
  expected(claimant: Claimant): Expected | undefined {
    const usage = this.usages.get(keyOf(claimant), performance.now());
    const increment = usage?.increment(claimant.limits, this.clock.now() * 1_000);
    return usage && increment && { usage, version: usage.version, increment };
  }

  /** What became of it; undefined: it was not counted. `sentAt`: as `performance.now()`. */
  countedAlong(
    claimant: Claimant,
    { granted, remaining, reset_ms, version, ends, counts }: AlongRow,
    expected: Expected | undefined,
    sentAt: number,
  ): Admission | undefined {
    if (granted === null) return undefined;
    const { limits } = claimant;
    if (counts === null) {
      const { usage, increment } = expected!;
      usage.apply(increment, ends[0]!, version);
      return new Admission(true, new Standing(windowsAfter(limits, increment, ends[0]!)));
    }
    const key = keyOf(claimant);
    this.usages.set(key, new Usage(version, ends, counts), sentAt + knownForMs);
    const standing = toStanding(limits, remaining!, reset_ms!);
    if (granted === 0) this.refusals.note(key, limits, standing, sentAt);
    return new Admission(granted > 0, standing);
  }

  /** For routes with the throttler's own guard and decorators: one window at a time. */
  async increment(
    key: string,
    ttl: number,
    limit: number,
    _blockDuration: number,
    throttlerName: string,
  ): Promise<StorageRecord> {
    const { admitted, windows } = await this.admit(key, throttlerName, [
      { name: throttlerName, limit, windowMs: ttl },
    ]);
    const { remaining, resetMs } = windows[0]!;
    const seconds = Math.ceil(resetMs / 1_000);
    return {
      totalHits: admitted ? limit - remaining : limit + 1,
      timeToExpire: seconds,
      isBlocked: !admitted,
      timeToBlockExpire: admitted ? 0 : seconds,
    };
  }

  private ask(key: string, fresh: Ask, asker?: Asker): void {
    const ask = this.waiting.get(key) ?? fresh;
    ask.limits = fresh.limits;
    ask.supply = fresh.supply;
    if (asker !== undefined) ask.askers.push(asker);
    this.waiting.set(key, ask);
    void this.run();
  }

  private async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    while (this.waiting.size > 0) {
      const batch = [...this.waiting].slice(0, maxBatch);
      for (const [key] of batch) this.waiting.delete(key);
      await this.runBatch(batch);
    }
    this.running = false;
  }

  private async runBatch(batch: readonly [key: string, ask: Ask][]): Promise<void> {
    const sentAt = performance.now();
    try {
      const rows = await admit(
        this.database,
        batch.map(([, ask], i) => toQuestion(ask, i)),
      );
      for (const row of rows) this.answer(...batch[row.ask]!, row, sentAt);
    } catch (error) {
      // Those that wait behind a lost database would fare no better, only later.
      const asks = [...batch.map(([, ask]) => ask), ...this.waiting.values()];
      this.waiting.clear();
      for (const { askers, supply } of asks) {
        supply?.giveUp();
        for (const { reject } of askers) reject(error);
      }
    }
  }

  /** First come, first admitted; each sees the state as of its own admission. */
  private answer(key: string, { limits, supply, askers }: Ask, row: AdmitRow, sentAt: number): void {
    const standing = toStanding(limits, row.remaining, row.reset_ms);
    if (row.granted < askers.length) this.refusals.note(key, limits, standing, sentAt);
    if (row.granted <= askers.length) supply?.putNothing();
    else supply?.put(row.granted - askers.length, sentAt + row.ahead_ms, standing);
    askers.forEach(({ resolve }, i) => {
      const isAdmitted = i < row.granted;
      resolve(new Admission(isAdmitted, standing, isAdmitted ? row.granted - i - 1 : 0));
    });
  }
}

const keyOf = ({ routeClass, subject }: Claimant): string => `${routeClass} ${subject}`;

function toStanding(limits: RateLimits, remaining: number[], resetMs: number[]): Standing {
  return new Standing(
    limits.map((window, i) => ({ window, remaining: remaining[i]!, resetMs: resetMs[i]! })),
  );
}

function toQuestion({ subject, routeClass, limits, supply, askers }: Ask, ask: number): AdmitAsk {
  return {
    ask,
    subject,
    route_class: routeClass,
    wanted: askers.length,
    spare: supply?.spare ?? 0,
    windows_ms: limits.map(({ windowMs }) => windowMs),
    limits: limits.map(({ limit }) => limit),
  };
}
