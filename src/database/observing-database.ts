import pg from 'pg';
import { Database } from './database.js';
import { statement, type Statement } from './statement.js';
import { connectionOptions } from './statement-pool.js';

const size = 2;
const statementTimeoutMs = 2_000;
const limitTime = statement(
  'limit_time',
)`SELECT set_config('statement_timeout', '${String(statementTimeoutMs)}', true)`;
/** Looks wait for each other: a page with a hundred pictures has as many. */
const connectionTimeoutMs = 15_000;

/**
 * For those who look at the whole: connections of their own, so that no look holds up a request; the usual planner, as
 * what is looked at is read in other ways than by key; and a statement timeout, for no look is worth more.
 */
export class ObservingDatabase extends Database {
  /** The timeout is of the one transaction: a pooler would hand one of the session on to submissions. */
  override query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return this.atomically<Row>([limitTime, []], [statement, values]);
  }
}

export function createObservingPool(url: string): pg.Pool {
  const options = {
    ...connectionOptions,
    connectionTimeoutMillis: connectionTimeoutMs,
    connectionString: url,
    application_name: 'nowserving observer',
    max: size,
    query_timeout: statementTimeoutMs + 1_000,
    onConnect: (client: pg.ClientBase) => client.query('SET jit = off'),
  };
  const pool = new pg.Pool(options);
  // An idle session that ends is replaced when it is needed.
  pool.on('error', () => undefined);
  return pool;
}
