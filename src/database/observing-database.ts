import pg from 'pg';
import { Database } from './database.js';
import { statement, type Statement } from './statement.js';
import { usualPlanner, type DatabaseSessions } from './sessions.js';
import { connectionOptions, outliveSessions } from './statement-pool.js';

const size = 2;
const statementTimeoutMs = 2_000;
/** Behind a pooler, the role has the planner of the statement pools, and no timeout. */
const local: readonly (readonly [string, string])[] = Object.entries({
  ...usualPlanner,
  statement_timeout: String(statementTimeoutMs),
});
const setLocally = statement(
  'set_locally',
)`SELECT ${local.map(([name, value]) => `set_config('${name}', '${value}', true)`).join(', ')}`;
/** Reads wait for each other. A page with a hundred pictures makes a hundred reads. */
const connectionTimeoutMs = 15_000;

/**
 * A pool for reads of operators. It has its own connections, so that these reads never delay a request. It uses the
 * usual planner, because these reads are not only by key, and a statement timeout, because no such read is worth more.
 */
export class ObservingDatabase extends Database {
  /** The settings are local to the transaction, because a pooler would pass a session's on to submissions. */
  override query<Row extends object>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    return this.atomically<Row>([setLocally, []], [statement, values]);
  }
}

export function createObservingPool(sessions: DatabaseSessions): pg.Pool {
  const options = {
    ...connectionOptions,
    connectionTimeoutMillis: connectionTimeoutMs,
    connectionString: sessions.usual(),
    application_name: 'nowserving observer',
    max: size,
    query_timeout: statementTimeoutMs + 1_000,
  };
  return outliveSessions(new pg.Pool(options));
}
