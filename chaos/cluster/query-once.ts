import pg from 'pg';

/**
 * Behind PgBouncer the role has the planner settings of the service. With them a read of all requests joins in nested
 * loops, which takes ten minutes for 130,000.
 */
const usualPlanner = ['seqscan', 'bitmapscan', 'sort', 'hashjoin', 'mergejoin']
  .map((name) => `-c enable_${name}=on`)
  .join(' ');

/** Runs a query on a connection of its own. `options`: of the connection, such as timeouts. */
export async function queryOnce<Row extends object>(
  connectionString: string,
  text: string,
  values: unknown[] = [],
  options: pg.ClientConfig = {},
): Promise<Row[]> {
  const client = new pg.Client({
    ...options,
    connectionString,
    application_name: 'chaos',
    options: usualPlanner,
  });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
