import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** One prepared statement a call. Like the service's connections, these outlive the turns of other subjects. */
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  max: Number(process.env.POOL_SIZE ?? 10),
  idleTimeoutMillis: 60_000,
});

const insert = {
  name: 'insert',
  text: `INSERT INTO bare_request (id, model_id, input) VALUES ($1, 'bench/noop', $2)`,
};
const select = {
  name: 'select',
  text: `SELECT id, model_id, state, created_at, started_at, completed_at FROM bare_request WHERE id = $1`,
};

await pool.query(`
  CREATE TABLE IF NOT EXISTS bare_request (
    id uuid PRIMARY KEY,
    model_id text NOT NULL,
    state text NOT NULL DEFAULT 'IN_QUEUE',
    input json NOT NULL,
    output json,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    completed_at timestamptz
  )`);

export async function submit(input) {
  const id = randomUUID();
  await pool.query({ ...insert, values: [id, JSON.stringify(input)] });
  return id;
}

export async function status(id) {
  return (await pool.query({ ...select, values: [id] })).rows[0];
}
