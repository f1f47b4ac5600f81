import type { Database } from '../../../database/database.js';
import { type Statement, statement } from '../../../database/statement.js';
import type { EntryChange, QueueKey } from '../waiting-index.js';

/** The same number as `orderKeyOf` returns. */
const orderKey = `('x' || right(api_key_id::text, 12))::bit(48)::bigint`;
/** An entry's columns, as a change of the queue. */
export const entryColumns = `model_id AS "modelId", priority, virtual_start AS start, seq, attempt,
       ${orderKey} AS "orderKey"`;

/** The number of its runs as its status counts attempts, without those that never reached the model. */
export const runsColumn = `failed_attempts + lost_attempts AS runs`;

export type WaitingRequest = EntryChange & { id: string };

/*
 * Purpose: reads all waiting requests in order, a page at a time, to fill the waiting index.
 * Race: pages are separate snapshots; what changes meanwhile reaches the index as changes. An entry that moves from
 *   delayed_entry to queue_entry is not published as added, so queue_entry is read last: such an entry may be read
 *   twice. A move in the other direction is published as held or added.
 * Index: delayed_entry_pkey and queue_entry_pkey, from the last key on.
 */
const page = (table: string, isHeld: string, condition = ''): Statement => statement(`waiting_${table}`)`
SELECT ${entryColumns}, ${isHeld} AS "isHeld"
FROM ${table}
WHERE (model_id, priority, virtual_start, seq) > ($1::text, $2::smallint, $3::bigint, $4::bigint)${condition}
ORDER BY model_id, priority, virtual_start, seq LIMIT 20000`;
/** Scheduled requests do not wait yet. */
const pages = [
  page('delayed_entry', `ready_at = 'infinity'`, ' AND NOT is_scheduled'),
  page('queue_entry', 'false'),
];

type Waiting = EntryChange & { isHeld: boolean };

export async function* waiting(database: Database): AsyncGenerator<Waiting[]> {
  for (const statement of pages) {
    let last: QueueKey = { modelId: '', priority: -32_768, start: 0, seq: 0 };
    for (;;) {
      const rows = await database.query<Waiting>(statement, [
        last.modelId,
        last.priority,
        last.start,
        last.seq,
      ]);
      if (rows.length === 0) break;
      yield rows;
      last = rows[rows.length - 1]!;
    }
  }
}

const modelsWithWork = statement('models_with_work')`SELECT wanted.id
FROM unnest($1::text[]) AS wanted (id)
WHERE EXISTS (SELECT FROM queue_entry WHERE queue_entry.model_id = wanted.id)`;

/** Returns the models that have waiting requests. */
export async function findModelsWithWork(database: Database, modelIds: string[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(modelsWithWork, [modelIds]);
  return rows.map(({ id }) => id);
}

/*
 * Purpose: counts the requests that wait or will wait, for each key.
 * Race: none (read only).
 * Index: none: both tables are scanned, once for all keys that want a count. `KeyCounts` pauses between two counts.
 */
const countByKey = statement('count_waiting_by_key')`SELECT api_key_id AS id, sum(waiting)::integer AS waiting
FROM (
  SELECT api_key_id, count(*) AS waiting FROM queue_entry GROUP BY api_key_id
  UNION ALL
  SELECT api_key_id, count(*) FROM delayed_entry GROUP BY api_key_id
) AS counted
GROUP BY api_key_id`;

export function countWaitingByKey(database: Database): Promise<Map<string, number>> {
  return readCounts(database, countByKey);
}

const countStatement = statement('count_waiting')`SELECT id, sum(waiting)::integer AS waiting
FROM (
  SELECT model_id AS id, count(*) AS waiting FROM queue_entry GROUP BY model_id
  UNION ALL
  SELECT model_id, count(*) FROM delayed_entry WHERE NOT is_scheduled GROUP BY model_id
) AS counted
GROUP BY id`;

/** Returns how many requests wait for each model, by an exact count. */
export function countWaiting(database: Database): Promise<Map<string, number>> {
  return readCounts(database, countStatement);
}

async function readCounts(database: Database, counts: Statement): Promise<Map<string, number>> {
  const rows = await database.query<{ id: string; waiting: number }>(counts);
  return new Map(rows.map(({ id, waiting }) => [id, waiting]));
}
