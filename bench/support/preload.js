import { withClient } from './postgres.js';

/*
 * What `count` submissions through the service leave: requests and their queue entries. The ids are UUIDv7 of
 * the last seconds, ten a millisecond, in the order of their seqs.
 */
const waitingRequests = `
WITH now AS (
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms
), incoming AS (
  SELECT n, (lpad(to_hex(now.ms - ($3::integer - n) / 10), 12, '0') || '7' || left(random, 3)
          || substr('89ab', 1 + n % 4, 1) || substr(random, 4, 15))::uuid AS id
  FROM now, generate_series(1, $3::integer) AS n, md5(n::text || random()::text) AS random
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, seq, input, created_at, webhook_url)
  SELECT id, $1::text, (SELECT id FROM api_key LIMIT 1), 0, nextval('request_seq'), $2::json, uuid_time(id),
         ($4::text[])[1 + n % cardinality($4::text[])]
  FROM incoming
  RETURNING id, model_id, priority, seq
)
INSERT INTO queue_entry (model_id, priority, seq, request_id)
SELECT model_id, priority, seq, id
FROM written`;

/**
 * Puts requests into the queue of a model, before a process starts and fills its waiting index from the table.
 * @param {string} databaseUrl
 * @param {string} modelId
 * @param {number} count
 * @param {string} input JSON
 * @param {(string | null)[]} [webhookUrls] in turns
 */
export async function preloadWaiting(databaseUrl, modelId, count, input, webhookUrls = [null]) {
  await withClient(databaseUrl, async (client) => {
    await client.query(waitingRequests, [modelId, input, count, webhookUrls]);
    // What autovacuum would have done by the time that so many wait.
    await client.query('VACUUM (ANALYZE) request, queue_entry');
  });
}

/**
 * Ids of waiting requests, spread evenly over the queue behind its first.
 * @param {string} databaseUrl
 * @param {number} count
 * @returns {Promise<string[]>}
 */
export async function sampleWaiting(databaseUrl, count) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT request_id AS id
       FROM (
         SELECT request_id, row_number() OVER (ORDER BY seq) AS n, count(*) OVER () AS total
         FROM queue_entry
         OFFSET 1
       ) AS line
       WHERE n % greatest(total / $1::integer, 1) = 0
       LIMIT $1::integer`,
      [count],
    );
    return rows.map(({ id }) => id);
  });
}
