import pg from 'pg';
import { until } from './until.js';

const open = `SELECT count(*)::int AS count FROM request WHERE state <> 'COMPLETED'`;

/** How each request ended, and how often one of its runs succeeded. */
const ends = `
SELECT id, outcome, (output ->> 'n')::int AS n,
       (SELECT count(*)::int FROM attempt WHERE request_id = id AND outcome = 'succeeded') AS successes
FROM request WHERE model_id LIKE 'up/%' AND webhook_url IS NOT NULL`;

/** Waits for all ends and webhooks, and returns the sentences of what is wrong. */
export async function judge(databaseUrl, load, receiver) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await until('all requests have completed', 60_000, async () => {
      const { rows } = await client.query(open);
      return rows[0].count === 0;
    });
    const ids = [...load.accepted.keys()];
    await until('all webhooks have arrived', 60_000, () => ids.every((id) => receiver.calls.has(id))).catch(
      () => undefined,
    );
    const { rows } = await client.query(ends);
    return wrongs(load, receiver, new Map(rows.map((row) => [row.id, row])));
  } finally {
    await client.end();
  }
}

function wrongs(load, receiver, rows) {
  const found = [];
  for (const [id, { n, outcome }] of load.accepted) {
    const row = rows.get(id);
    const isRight =
      row?.outcome === outcome &&
      (outcome === 'succeeded' ? row.n === n && row.successes === 1 : row.successes === 0);
    if (!isRight) found.push(`${id} must be ${outcome} with ${n}, but is ${JSON.stringify(row)}`);
    const hooks = [...(receiver.calls.get(id) ?? [])];
    const status = outcome === 'succeeded' ? 'OK' : 'ERROR';
    if (hooks.length !== 1 || !hooks[0].endsWith(` ${status}`))
      found.push(`${id} must have one webhook with ${status}, but has ${JSON.stringify(hooks)}`);
  }
  const unknown = [...rows.keys()].filter((id) => !load.accepted.has(id));
  if (unknown.length > 0)
    found.push(`${unknown.length} requests were stored without an answer to their caller`);
  for (const [id, count] of load.ends)
    if (count !== 1) found.push(`the stream of ${id} showed its end ${count} times`);
  if (load.repeated.size !== 1) found.push(`one Idempotency-Key made ${load.repeated.size} requests`);
  return [...found, ...load.failures.map((failure) => `a call failed: ${JSON.stringify(failure)}`)];
}
