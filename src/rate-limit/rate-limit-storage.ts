import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import type { RateLimits } from '../config/rate-limits.js';
import { Database } from '../database/database.js';
import type { Admission } from './admission.js';
import { admit, type AdmitAsk, type AdmitRow } from './queries/admit.js';
import { Refusals } from './refusals.js';
import { Reserve, withMore } from './reserve.js';

/** Most subjects in one statement, which holds the locks on all of them. */
const maxBatch = 200;

interface Asker {
  resolve(admission: Admission): void;
  reject(error: unknown): void;
}

interface Ask {
  subject: string;
  routeClass: string;
  limits: RateLimits;
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

  constructor(private readonly database: Database) {}

  /** Counts one call in every window, or in none if one of them is full. */
  async admit(subject: string, routeClass: string, limits: RateLimits): Promise<Admission> {
    const key = `${routeClass} ${subject}`;
    const now = performance.now();
    const known = this.refusals.find(key, limits, now) ?? this.reserve.take(key, limits, now);
    if (known !== undefined) return known;
    return new Promise((resolve, reject) => {
      const ask = this.waiting.get(key) ?? { subject, routeClass, limits, askers: [] };
      ask.limits = limits;
      ask.askers.push({ resolve, reject });
      this.waiting.set(key, ask);
      void this.run();
    });
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
        batch.map(([key, ask], i) => toQuestion(ask, i, this.reserve.spare(key, sentAt))),
      );
      for (const row of rows) this.answer(...batch[row.ask]!, row, sentAt);
    } catch (error) {
      // Those that wait behind a lost database would fare no better, only later.
      const asks = [...batch.map(([, ask]) => ask), ...this.waiting.values()];
      this.waiting.clear();
      for (const { askers } of asks) for (const { reject } of askers) reject(error);
    }
  }

  /** First come, first admitted; each sees the state as of its own admission. */
  private answer(key: string, { limits, askers }: Ask, row: AdmitRow, sentAt: number): void {
    const after: Admission = {
      admitted: false,
      windows: limits.map((window, i) => ({
        window,
        remaining: row.remaining[i]!,
        resetMs: row.reset_ms[i]!,
      })),
    };
    if (row.granted < askers.length) this.refusals.note(key, limits, after, sentAt);
    if (row.granted > askers.length) {
      this.reserve.put(key, row.granted - askers.length, sentAt + row.bucket_left_ms, after);
    }
    askers.forEach(({ resolve }, i) =>
      resolve(i < row.granted ? withMore(after, row.granted - i - 1) : after),
    );
  }
}

function toQuestion({ subject, routeClass, limits, askers }: Ask, ask: number, spare: number): AdmitAsk {
  return {
    ask,
    subject,
    route_class: routeClass,
    wanted: askers.length,
    spare,
    windows_ms: limits.map(({ windowMs }) => windowMs),
    limits: limits.map(({ limit }) => limit),
  };
}
