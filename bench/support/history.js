import { withClient } from './postgres.js';

const chunk = 500_000;
/** A transaction has a lock on each table that it makes, and there is room for so many. */
const daysAtOnce = 20;

/** Completed requests with an attempt and two events each, spread evenly over the day that begins at $1. */
const completedRequests = `
WITH incoming AS (
  SELECT (lpad(to_hex($1::bigint + n * 86400000::bigint / $2::integer), 12, '0') || '7' || left(random, 3)
          || substr('89ab', 1 + n % 4, 1) || substr(random, 4, 15))::uuid AS id, n
  FROM generate_series(0, $2::integer - 1) AS n, md5(n::text || random()::text) AS random
), written AS (
  INSERT INTO request (id, model_id, api_key_id, state, outcome, seq, attempt, input, output, inference_ms,
                       created_at, started_at, completed_at)
  SELECT id, 'bench/noop', (SELECT id FROM api_key LIMIT 1), 'COMPLETED', 'succeeded', nextval('request_seq'), 1,
         $3::json, $3::json, 500 + n * 37 % 3000,
         uuid_time(id), uuid_time(id) + n::bigint * 7919 % 5000 * interval '1 millisecond', uuid_time(id) + interval '10 seconds'
  FROM incoming
  RETURNING id, started_at, completed_at
)
INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome)
SELECT id, 1, '00000000-0000-7000-8000-000000000000', started_at, completed_at, 'succeeded'
FROM written`;

/**
 * Inserts requests that are spread evenly over the days up to now.
 * @param {string} databaseUrl
 * @param {number} count
 * @param {number} [days]
 */
export async function preloadHistory(databaseUrl, count, days = 20) {
  await withClient(databaseUrl, async (client) => {
    for (let left = days; left > 0; left -= daysAtOnce)
      await client.query(`SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - $1::integer, $2)`, [
        left,
        Math.min(left, daysAtOnce),
      ]);
    const { rows } = await client.query(
      `SELECT (extract(epoch FROM now() - interval '10 seconds') * 1000)::bigint AS ms`,
    );
    const perDay = Math.ceil(count / days);
    for (let day = 1; day <= days; day++) {
      const begin = Number(rows[0].ms) - day * 86_400_000;
      for (let left = perDay; left > 0; left -= chunk) {
        await client.query(completedRequests, [
          begin,
          Math.min(left, chunk),
          '{"prompt":"a quiet harbour at dusk"}',
        ]);
      }
    }
    await client.query('VACUUM (ANALYZE) request, attempt, request_event');
  });
}
