import pg from 'pg';

/** Runs a query on a connection of its own. `options`: of the connection, such as timeouts. */
export async function queryOnce<Row extends object>(
  connectionString: string,
  text: string,
  values: unknown[] = [],
  options: pg.ClientConfig = {},
): Promise<Row[]> {
  const client = new pg.Client({ ...options, connectionString, application_name: 'chaos' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}
