import pg from 'pg';
import type { DatabaseSessions } from './sessions.js';

/** Options shared by all pools. */
export const connectionOptions = {
  connectionTimeoutMillis: 3_000,
  // A new connection costs the first callers after a quiet period 15 ms. pg's default would close it after 10 s.
  idleTimeoutMillis: 60_000,
  // A connection keeps the plans of each day: see `statementOfDays`.
  maxLifetimeSeconds: 86_400,
  keepAlive: true,
  // A statement is sent at once, even while earlier ones are in progress: see `Pipeline`. TypeORM also sends some that
  // way.
  pipeline: true,
};

export interface StatementPoolOptions {
  sessions: DatabaseSessions;
  size: number;
  /** After this long, a call stops waiting for a hung server and the connection is discarded. Default: no limit. */
  queryTimeoutMs?: number;
}

/** Creates the pool of the prepared statements. TypeORM has its own pool, with the usual planner. */
export function createStatementPool({ sessions, size, queryTimeoutMs }: StatementPoolOptions): pg.Pool {
  const options = {
    ...connectionOptions,
    connectionString: sessions.byKey(),
    application_name: 'nowserving',
    max: size,
    query_timeout: queryTimeoutMs,
  };
  const pool = new pg.Pool(options);
  // An idle session that ends is replaced when it is needed.
  pool.on('error', () => undefined);
  return pool;
}
