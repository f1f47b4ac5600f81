import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { v7 } from 'uuid';
import { Config } from '../../src/config/config.js';
import { reachDatabase } from '../../src/database/reach.js';
import type { DatabaseSessions } from '../../src/database/sessions.js';
import { createStatementPool } from '../../src/database/statement-pool.js';
import { Database } from '../../src/database/database.js';
import type { EventBatch } from '../../src/queue/runs/queries/append-events.js';
import { claim, type Claimed } from '../../src/queue/runs/queries/claim.js';
import type { Finish } from '../../src/queue/runs/queries/finish.js';
import { register } from '../../src/queue/cluster/queries/heartbeat.js';
import type { Requeue } from '../../src/queue/runs/queries/requeue.js';
import { rescue } from '../../src/queue/runs/queries/rescue.js';
import type { Submission } from '../../src/queue/submit/queries/submission.js';
import { submitOnce } from '../../src/queue/submit/queries/submit-once.js';
import { submit, type Submitted } from '../../src/queue/submit/queries/submit.js';
import { submitStarted } from '../../src/queue/submit/queries/submit-started.js';
import { requestErrors } from '../../src/queue/request-errors.js';
import { registerHook } from '../../src/queue/transition-hooks.js';
import { outbox } from '../../src/webhooks/outbox.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { until } from './until.js';

// Registers the same hooks as the service, so that the statements are the same.
for (const hook of outbox) registerHook(hook);

export const keyId = randomUUID();

/** The tables without a service: connections controlled by a test, each with its own session. */
export class QueueTables {
  private readonly opened: pg.Pool[] = [];

  private constructor(
    private readonly testDatabase: TestDatabase,
    private readonly sessions: DatabaseSessions,
    readonly sql: pg.Client,
  ) {}

  static async create(): Promise<QueueTables> {
    const testDatabase = await createTestDatabase();
    const sql = new pg.Client({ connectionString: testDatabase.url, pipeline: true });
    await sql.connect();
    return new QueueTables(testDatabase, await reachDatabase(testDatabase.url), sql);
  }

  get databaseUrl(): string {
    return this.testDatabase.url;
  }

  /** A single session, so that `execute('BEGIN')` begins a transaction for all its later statements. */
  session(): Database {
    const pool = createStatementPool({ sessions: this.sessions, size: 1 });
    this.opened.push(pool);
    return new Database(pool, new Config());
  }

  async drop(): Promise<void> {
    for (const pool of this.opened) await pool.end();
    await this.sql.end();
    await this.testDatabase.drop();
  }

  /** Empties the tables, as if nothing had been submitted and no node had existed. */
  async clear(): Promise<void> {
    const kept = ['request', 'attempt', 'request_event', 'output_delta'];
    const all = [...kept, 'queue_entry', 'delayed_entry', 'lease', 'suspect', 'followed_run', 'node'];
    await this.rows(all.map((table) => `DELETE FROM ${table}`).join('; '));
  }

  async rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(text, values)).rows;
  }

  /** Waits until `count` sessions wait for a lock. */
  async blocked(count: number): Promise<void> {
    const waiting = `SELECT pid FROM pg_stat_activity
                     WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const message = `${count} sessions wait for a lock`;
    await until(async () => (await this.rows(waiting)).length === count, { message });
  }

  async node(database: Database): Promise<string> {
    const id = randomUUID();
    await register(database, { id, name: `node ${id}`, role: 'all', version: '0' });
    return id;
  }
}

/** Submits requests of an API key with a bound. */
export const submitBounded = (database: Database, items: readonly Submission[]): Promise<Submitted[]> =>
  submitOnce(
    database,
    items.map((item) => ({ ...item, isBounded: true })),
  ) as Promise<Submitted[]>;

const request = { modelId: 'test/model', keyId, priority: 0, virtualStart: 0, input: Buffer.from('{}') };

export async function submitSome(database: Database, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => v7());
  await submit(
    database,
    ids.map((id) => ({ ...request, id, expiresMs: null })),
  );
  return ids;
}

/** Submits a request that starts at once. undefined: it did not start, and nothing was written. */
export async function submitStartedFor(
  database: Database,
  nodeId: string,
  more: Partial<Parameters<typeof submitStarted>[2]> = {},
): Promise<{ id: string; seq: number; token: string } | undefined> {
  const id = v7();
  const started = await submitStarted(
    database,
    { ...request, id, expiresMs: 3_600_000 },
    { nodeId, timeoutMs: 60_000, floor: null, slotRound: 0, byMs: Date.now() + 60_000, ...more },
  );
  return started && { id, ...started };
}

export function claimSome(
  database: Database,
  nodeId: string,
  limit: number,
  more: Partial<Parameters<typeof claim>[1]> = {},
): Promise<Claimed[]> {
  const byMs = Date.now() + 60_000;
  const terms = {
    modelId: 'test/model',
    nodeId,
    limit,
    timeoutMs: 60_000,
    floor: null,
    slotRound: 0,
    byMs,
    ...more,
  };
  return claim(database, terms);
}

/** Submits one request and claims it. */
export async function runOne(database: Database, nodeId: string): Promise<Claimed> {
  await submitSome(database, 1);
  return (await claimSome(database, nodeId, 1))[0]!;
}

interface Held {
  id: string;
  token: string;
}

export function ending(
  { id, token }: Held,
  attemptOutcome: Finish['attemptOutcome'] = 'succeeded',
  output = '1',
): Finish {
  const errors = {
    succeeded: null,
    failed: requestErrors.failed('model_error', 'no', 0, {}),
    timed_out: requestErrors.timedOut(0, 1_000),
    cancelled: requestErrors.cancelled(0),
  };
  const error = errors[attemptOutcome];
  return {
    requestId: id,
    token,
    attemptOutcome,
    output: error === null ? output : null,
    error,
    message: null,
  };
}

export function returning({ id, token }: Held, more: Partial<Requeue> = {}): Requeue {
  const nothing = { errorCode: null, errorMessage: null, message: null };
  return { requestId: id, token, attemptOutcome: 'returned', delayMs: 0, ...nothing, ...more };
}

/** Returns `count` log lines of a run, from line `from` on, counted from 0. */
export function logLines({ id, token }: Held, from: number, count = 1): EventBatch {
  const lines = Array.from({ length: count }, (_, i) => `line ${from + i}`);
  const logs = lines.map((message) => ({ level: 'INFO', source: 'runner', message, atMs: 0 }) as const);
  return { requestId: id, token, from, count, logs, progress: null, usage: null, deltas: [] };
}

/** Rescues the requests of all nodes whose heartbeat is at least that old. */
export async function rescueSome(database: Database, nodeId: string, lostLimit: number, lostAfterMs = -1) {
  const [lost, cancelled] = [requestErrors.nodeLost(0), requestErrors.cancelled(0)];
  const terms = { lostLimit, lost, cancelled, nowMs: Infinity };
  return (await rescue(database, { nodeId, lostAfterMs, ...terms })).requests;
}
