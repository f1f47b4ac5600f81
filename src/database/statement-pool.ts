import pg from 'pg';
import type { DatabaseSessions } from './sessions.js';
import { refuseStandby } from './standby.js';

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
  onConnect: refuseStandby,
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
  return outliveSessions(new pg.Pool(options));
}

/**
 * Lets the process outlive the sessions of a pool. A session that ends while it is idle is replaced when it is needed.
 * The next statement on one that ends while it is in use fails with the error. Each session is listened to from its
 * first moment on: its ready message and its end can be in one packet.
 */
export function outliveSessions(pool: pg.Pool): pg.Pool {
  const ignore = (): void => undefined;
  return pool.on('error', ignore).on('connect', (session) => void session.on('error', ignore));
}
