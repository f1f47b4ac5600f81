import pg from 'pg';

/**
 * Every statement of this pool looks rows up by key, in the order of the key. A plan made while a table was empty
 * would scan or sort it for as long as the connection lives, so the other ways are closed from the start.
 */
const plannerSettings = `SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off;
  SET jit = off; SET plan_cache_mode = force_generic_plan`;

/** Of all pools. */
export const connectionOptions = {
  connectionTimeoutMillis: 3_000,
  // A new one costs the first callers after a quiet while 15 ms; pg would close it after 10 s.
  idleTimeoutMillis: 60_000,
  keepAlive: true,
  // A statement is sent when it is handed over, also behind others: see `Pipeline`. TypeORM sends some so as well.
  pipeline: true,
};

export interface StatementPoolOptions {
  url: string;
  size: number;
  /** A hung server holds a call no longer; its connection is then thrown away. Default: no limit. */
  queryTimeoutMs?: number;
}

/** The connections of the prepared statements; what goes through TypeORM has its own, with the usual planner. */
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
