import pg from 'pg';

/**
 * Every statement of this pool looks rows up by key, in key order. A plan made while a table was empty would scan or
 * sort it for the life of the connection. The other plans are therefore disabled from the start.
 */
const plannerSettings = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET jit = off; SET plan_cache_mode = force_generic_plan`;

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
  url: string;
  size: number;
  /** After this long, a call stops waiting for a hung server and the connection is discarded. Default: no limit. */
  queryTimeoutMs?: number;
}

/** Creates the pool of the prepared statements. TypeORM has its own pool, with the usual planner. */
export function createStatementPool({ url, size, queryTimeoutMs }: StatementPoolOptions): pg.Pool {
  const options = {
    ...connectionOptions,
    connectionString: url,
    application_name: 'nowserving',
    max: size,
    query_timeout: queryTimeoutMs,
    onConnect: (client: pg.ClientBase) => client.query(plannerSettings),
  };
  const pool = new pg.Pool(options);
  // An idle session that ends is replaced when it is needed.
  pool.on('error', () => undefined);
  return pool;
}
