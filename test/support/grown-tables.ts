import pg from 'pg';

/**
 * Prepares statements, adds a column to every table as a migration would, and returns those that then fail. PostgreSQL
 * refuses a prepared statement whose columns have changed, so no statement of a node may return the columns that a
 * table happens to have.
 */
export async function brokenByNewColumns(
  url: string,
  statements: Iterable<readonly [name: string, text: string]>,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const all = [...statements];
    for (const [i, [, text]] of all.entries()) await client.query(`PREPARE prepared_${i} AS ${text}`);
    const { rows } = await client.query<{ name: string }>(
      `SELECT oid::regclass AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
    );
    for (const { name } of rows) await client.query(`ALTER TABLE ${name} ADD COLUMN added_later text`);
    await client.query(`CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request`);
    const broken: string[] = [];
    for (const [i, [name, text]] of all.entries()) {
      const count = new Set(text.match(/\$\d+/g)).size;
      const values = Array.from({ length: count }, () => 'NULL').join();
      await client
        .query(`EXPLAIN EXECUTE prepared_${i} ${count === 0 ? '' : `(${values})`}`)
        .catch(({ message }: Error) => broken.push(`${name}: ${message}`));
    }
    return broken;
  } finally {
    await client.end();
  }
}
