import { insertKeys } from './callers.js';
import { withClient } from './postgres.js';

/*
 * Inserts the rows that `count` submissions through the service leave: requests and their queue entries. The ids are
 * UUIDv7 of the last seconds, ten a millisecond, in the order of their seqs. The keys send one request each in turn
 * ($7), or each key sends all of its requests before the next one. The keys take turns in the queue.
 */
const waitingRequests = `
WITH now AS (
  SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms
), keys AS (
  SELECT array_agg(id) AS ids FROM (SELECT id FROM api_key ORDER BY name LIMIT $5::integer) AS key
), incoming AS (
  SELECT CASE WHEN $7::boolean THEN (n - 1) % $5::integer ELSE (n - 1) / ($3::integer / $5::integer) END AS key,
         CASE WHEN $7::boolean THEN (n - 1) / $5::integer ELSE (n - 1) % ($3::integer / $5::integer) END AS turn,
         n, (lpad(to_hex(now.ms - ($3::integer - n) / 10), 12, '0') || '7' || left(random, 3)
          || substr('89ab', 1 + n % 4, 1) || substr(random, 4, 15))::uuid AS id
  FROM now, generate_series(1, $3::integer) AS n, md5(n::text || random()::text) AS random
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, virtual_start, seq, input, created_at, webhook_url)
  SELECT id, $1::text, ids[1 + key], 0, turn * $6::bigint, nextval('request_seq'), $2::json, uuid_time(id),
         ($4::text[])[1 + n % cardinality($4::text[])]
  FROM incoming, keys
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq
)
INSERT INTO queue_entry (model_id, priority, virtual_start, seq, request_id, api_key_id)
SELECT model_id, priority, virtual_start, seq, id, api_key_id
FROM written`;

/** Virtual time from one request of a key to its next. */
export const turnTicks = 1_000;

/**
 * @typedef {object} Senders
 * @property {(string | null)[]} [webhookUrls] used in turns
 * @property {number} [keys] that have each sent as many
 * @property {boolean} [inTurn] one request each, over and over, instead of all of one key before the next
 * @property {'fair' | 'arrival'} [order] of the model
 */

/**
 * Puts requests into the queue of a model. Call it before a process starts and fills its waiting index from the table.
 * @param {string} databaseUrl
 * @param {string} modelId
 * @param {number} count
 * @param {string} input JSON
 * @param {Senders} [senders]
 */
export async function preloadWaiting(databaseUrl, modelId, count, input, senders = {}) {
  const { webhookUrls = [null], keys = 1, inTurn = false, order = 'fair' } = senders;
  // In addition to the bench's own key.
  if (keys > 1) await insertKeys(databaseUrl, keys - 1);
  const ticks = order === 'fair' ? turnTicks : 0;
  await withClient(databaseUrl, async (client) => {
    await client.query(waitingRequests, [modelId, input, count, webhookUrls, keys, ticks, inTurn]);
    // The work that autovacuum would have done by the time that this many wait.
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
