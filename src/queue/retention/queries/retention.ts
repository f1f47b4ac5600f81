import pg from 'pg';
import type { Database } from '../../../database/database.js';
import { type DaySpan, statementOfDays, statementOfSpan } from '../../../database/days.js';
import { statement } from '../../../database/statement.js';

/**
 * SQL: no node's `models.yaml` has had the model for a day: a node that has it would have renewed the time. One that is
 * missing for less time may be back soon, with a retention of its own, or another node knows it already.
 */
const isGone = `coalesce(removed_at < clock_timestamp() - interval '1 day', false)`;

/*
 * Purpose: finds days older than the retention without a request that waits or runs. A retention may begin before
 *   1970, and no id has such a time.
 * Race: an old request moves from its lease to the queue or to its end in one statement: one snapshot sees it in one
 *   of them. One that ends after this statement is found by the next one.
 * Index: the system catalogue; queue_entry, delayed_entry and lease hold only what is not completed.
 */
const oldStatement = statement('old_days')`WITH day AS (
  SELECT right(relname, 8) AS day,
         uuid_at(to_date(right(relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC') AS first,
         uuid_at(to_date(right(relname, 8), 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' + interval '1 day') AS bound
  FROM pg_class
  WHERE relname ~ '^request_[0-9]{8}$'
    AND relkind = 'r'
    AND relnamespace = current_schema()::regnamespace
)
SELECT day, first FROM day
WHERE bound < uuid_at(greatest('epoch', clock_timestamp() - $1::float8 * interval '1 millisecond'))
  AND NOT EXISTS (SELECT FROM queue_entry WHERE request_id < day.bound)
  AND NOT EXISTS (SELECT FROM delayed_entry WHERE request_id < day.bound)
  AND NOT EXISTS (SELECT FROM lease WHERE request_id < day.bound)
ORDER BY day`;

/*
 * Purpose: reads the models that this node's file lacks and that are not gone: their retention is not known here.
 * Race: a reload writes the table before the node uses its file. Index: none. The table has a row for each model.
 */
const unknownModelsStatement = statement('unknown_models')`SELECT id FROM model
WHERE id <> ALL ($1::text[]) AND NOT ${isGone}`;

/*
 * Purpose: finds whether a request of a day must be kept: it ended too late, or its model is not known here.
 * Race: none: no request of the day waits or runs, and none becomes open again.
 * Index: none. The day is scanned in each round from the end of its retention until it is dropped: mostly one round.
 */
const keptStatement = statementOfDays(
  'kept_request_of_day',
  (within) => `SELECT id FROM request
WHERE ${within('id')}
  AND (completed_at >= clock_timestamp() - $1::float8 * interval '1 millisecond' OR model_id = ANY ($2::text[]))
LIMIT 1`,
);

/** Returns days as `YYYYMMDD`, by the time in the ids, in UTC. `served`: the models of this node's file. */
export async function droppableDays(
  database: Database,
  retentionMs: number,
  served: readonly string[],
): Promise<string[]> {
  const days: string[] = [];
  const old = await database.query<{ day: string; first: string }>(oldStatement, [retentionMs]);
  if (old.length === 0) return days;
  const unknown = await database.query<{ id: string }>(unknownModelsStatement, [served]);
  const unknownIds = unknown.map(({ id }) => id);
  for (const { day, first } of old) {
    const kept = await database.query(keptStatement(first), [retentionMs, unknownIds]);
    if (kept.length === 0) days.push(day);
  }
  return days;
}

/*
 * Purpose: ends the file uses of the requests of a day. The files room deletes files that nothing else names. Those of
 *   batches end with their batches.
 * Race: none: no request of the day waits or runs, and a retry names its files under a new id.
 * Index: file_use_pkey, a range of it; batch_pkey.
 */
const endUses = statement('end_uses_of_day')`UPDATE file_use SET is_over = true
WHERE request_id >= uuid_at(to_date($1::text, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC')
  AND request_id < uuid_at(to_date($1::text, 'YYYYMMDD')::timestamp AT TIME ZONE 'UTC' + interval '1 day')
  AND NOT is_over
  AND NOT EXISTS (SELECT FROM batch WHERE batch.id = file_use.request_id)`;

/*
 * Purpose: reads whether a partition is attached, and whether a session already detaches or drops it.
 * Race: two nodes that find no such session both detach it. The later one finds that it is not attached any more.
 * Index: pg_inherits_relid_seqno_index; pg_stat_activity has one row per session.
 */
const partitionState = statement('partition_state')`SELECT
  (SELECT inhdetachpending FROM pg_inherits WHERE inhparent = $1::regclass AND inhrelid = to_regclass($2)) AS pending,
  EXISTS (
    SELECT FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'active' AND pid <> pg_backend_pid()
      AND query ~ '^(ALTER|DROP) TABLE ' AND strpos(query, $2) > 0
  ) AS "isUnderWay"`;

/** `pending`: the detaching began; null: it is not attached. */
interface PartitionState {
  pending: boolean | null;
  isUnderWay: boolean;
}

/**
 * Detaches each table of a day first, without blocking: the parent is never locked while a long query reads it. After
 * a crash the next round continues. `request`, by which the days are found, is dropped last. Returns false if another
 * session is about to do it. It waits there until no transaction reads the table any more, however long this node
 * waits for its answer, and each further session would wait as well.
 */
export async function dropDay(database: Database, day: string): Promise<boolean> {
  if (!/^\d{8}$/.test(day)) throw new RangeError(`${day} is not a day`);
  await database.query(endUses, [day]);
  for (const parent of ['request_event', 'attempt', 'request']) {
    if (!(await dropPartition(database, parent, `${parent}_${day}`))) return false;
  }
  return true;
}

/** Returns false as `dropDay` does. */
export async function dropPartition(database: Database, parent: string, part: string): Promise<boolean> {
  const [state] = await database.query<PartitionState>(partitionState, [parent, part]);
  const { pending, isUnderWay } = state!;
  if (isUnderWay) return false;
  if (pending !== null) {
    const how = pending ? 'FINALIZE' : 'CONCURRENTLY';
    await database.execute(`ALTER TABLE ${parent} DETACH PARTITION ${part} ${how}`).catch(ignoreDetached);
  }
  await database.execute(`DROP TABLE IF EXISTS ${part}`);
  return true;
}

function ignoreDetached(error: unknown): void {
  // undefined_table: not a partition of its parent, or not there at all.
  if (!(error instanceof pg.DatabaseError) || error.code !== '42P01') throw error;
}

/*
 * Purpose: reads the models that are gone: their requests are still there.
 * Race: none: a model that is added meanwhile has no old requests.
 * Index: none. The table has a row for each model.
 */
const removedModelsStatement = statement('removed_models')`SELECT id FROM model WHERE ${isGone}`;

export async function removedModelIds(database: Database): Promise<string[]> {
  return (await database.query<{ id: string }>(removedModelsStatement)).map(({ id }) => id);
}

/*
 * Purpose: empties the payloads of a model's completed requests of a span of days beyond their retention, a thousand at a
 *   time.
 * Race: completed rows do not change, so nothing else locks them.
 * Index: request_pkey, from one id on: ids carry their time, so old requests come first; file_use_pkey.
 */
const emptyPayloads = statementOfSpan(
  'empty_payloads',
  (within) => `WITH old AS MATERIALIZED (
  SELECT id, state, completed_at, model_id, input IS NOT NULL OR output IS NOT NULL AS has_payload
  FROM request
  WHERE id > $2::uuid
    AND ${within('id')}
    AND id < uuid_at(greatest('epoch', clock_timestamp() - $3::float8 * interval '1 millisecond'))
  ORDER BY id LIMIT 1000
), emptied AS (
  UPDATE request
  SET input = NULL, output = NULL
  FROM old
  WHERE request.id = old.id
    AND ${within('request.id')}
    AND old.has_payload
    AND old.model_id = $1::text
    AND old.completed_at < clock_timestamp() - $3::float8 * interval '1 millisecond'
  RETURNING request.id
), files AS (
  UPDATE file_use SET is_over = true
  FROM emptied
  WHERE file_use.request_id = emptied.id AND NOT is_over
)
SELECT (SELECT id FROM old ORDER BY id DESC LIMIT 1) AS "lastId",
       (SELECT id FROM old WHERE model_id = $1::text
         AND (completed_at IS NULL OR completed_at >= clock_timestamp() - $3::float8 * interval '1 millisecond')
         ORDER BY id LIMIT 1) AS "firstKept"`,
);

/** `lastId`: the newest request that was read; null: none. `firstKept`: the oldest whose payload must stay for now. */
type Emptied = Record<'lastId' | 'firstKept', string | null>;

export async function emptyOldPayloads(
  database: Database,
  modelId: string,
  afterId: string,
  retentionMs: number,
  span: DaySpan,
): Promise<Emptied> {
  const [row] = await database.query<Emptied>(emptyPayloads(span), [modelId, afterId, retentionMs]);
  return row!;
}
