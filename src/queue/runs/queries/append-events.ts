import { jsonArray, uuidArray } from '../../../database/binary-array.js';
import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import type { LogLevel, LogSource } from '../runner.js';
import { makeOutputPartitions } from '../../retention/queries/output-partitions.js';
import { workerLease } from '../../workers/queries/worker-leases.js';

export interface LogLine {
  level: LogLevel;
  source: LogSource;
  message: string;
  /** Milliseconds since 1970, by the database's clock. */
  atMs: number;
}

export interface Progress {
  /** From 0 to 1. */
  value: number;
  message: string | null;
}

/** The events of a run since its last batch. */
export interface EventBatch {
  requestId: string;
  token: string;
  /** Number of its first event within the attempt, from 0. */
  from: number;
  /** Number of log lines, progress values, reports of usage and deltas, as the run emitted them. */
  count: number;
  logs: LogLine[];
  /** The last progress of the batch. */
  progress: Progress | null;
  /** JSON text of what the run has used so far; null: the batch has no report of it. */
  usage: string | null;
  /** JSON texts, one a row. Consecutive strings are joined already. */
  deltas: string[];
  /** At most this many bytes for all deltas of the attempt; undefined: the sender has counted them. */
  maxOutputBytes?: number;
}

export interface Appended {
  /** The number of starts of the request, from the lease. */
  attempt: number;
  /** Number of the next event: all events before it are written. */
  next: number;
  /** The run was asked to stop. */
  cancel: boolean;
  /** The batch was written by this call; false: it came too early, was written before, or is too large. */
  isWritten: boolean;
  /** With this batch, the deltas of the attempt would be too many bytes: nothing of it is written. */
  isTooLarge: boolean;
  /** Index of the next delta's row. */
  nextIndex: number;
}

/*
 * Purpose: appends what runs that hold their lease emit: log lines, the last progress, what they used, parts of the
 *   output.
 * Race: the lease's row lock keeps it from being deleted before this commits. So nothing can follow the event that
 *   completed the request, and a run without its lease writes nothing. A batch whose answer was lost is sent again.
 *   It waits for the first, finds on the lease that its events are there, and only renews the lease, as every call of
 *   a worker's run does. A batch that would leave a gap, or make the output too large, changes nothing. The lease
 *   counts the bytes, so that all nodes know them and a repetition adds none. Ids and indexes are drawn after the
 *   lock, in order. Leases are locked in the order of their ids.
 * Index: lease_pkey. The update of the lease is HOT. No CTE is joined with another: the cost of a batch grows with
 *   its length, not with its square.
 */
const appendStatement = statement('append_events')`WITH batch AS MATERIALIZED (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::integer[], $5::json[], $6::real[], $7::text[], $8::json[],
              $9::integer[], $10::bigint[], $11::bigint[], $12::json[])
    AS batch (request_id, token, first, count, logs, progress_value, progress_message, deltas, delta_count, bytes,
              max_bytes, usage)
), held AS MATERIALIZED (
  SELECT batch.*, batch.first = lease.events AS is_next, lease.attempt, lease.events, lease.deltas AS next_index,
         lease.output_bytes, lease.cancel_requested_at,
         (batch.bytes = 0 OR lease.output_bytes + batch.bytes <= batch.max_bytes) IS NOT FALSE AS fits
  FROM batch
  JOIN lease ON lease.request_id = batch.request_id AND lease.token = batch.token
  ORDER BY lease.request_id FOR NO KEY UPDATE OF lease
), accepted AS MATERIALIZED (
  SELECT * FROM held WHERE is_next AND fits
), counted AS (
  UPDATE lease
  SET events = accepted.first + accepted.count,
      deltas = accepted.next_index + accepted.delta_count,
      output_bytes = accepted.output_bytes + accepted.bytes,
      progress_value = coalesce(accepted.progress_value, lease.progress_value),
      progress_message = CASE WHEN accepted.progress_value IS NULL THEN lease.progress_message
                              ELSE accepted.progress_message END,
      usage = coalesce(accepted.usage, lease.usage),
      expires_at = CASE WHEN lease.worker_id IS NOT NULL THEN clock_timestamp() + ${workerLease} END
  FROM accepted
  WHERE lease.request_id = accepted.request_id
), renewed AS (
  UPDATE lease SET expires_at = clock_timestamp() + ${workerLease}
  FROM held
  WHERE lease.request_id = held.request_id AND lease.worker_id IS NOT NULL AND held.first < held.events
), logged AS (
  INSERT INTO request_event (request_id, at, kind, attempt, level, source, message)
  SELECT accepted.request_id, to_timestamp(line.at_ms / 1000), 'log', accepted.attempt, line.level, line.source,
         line.message
  FROM accepted,
       ROWS FROM (json_to_recordset(accepted.logs) AS (level text, source text, message text, at_ms float8))
         WITH ORDINALITY AS line (level, source, message, at_ms, number)
  ORDER BY accepted.request_id, line.number
), shown AS (
  INSERT INTO output_delta (request_id, attempt, index, delta)
  SELECT accepted.request_id, accepted.attempt, accepted.next_index + part.number - 1, part.delta
  FROM accepted, json_array_elements(accepted.deltas) WITH ORDINALITY AS part (delta, number)
)
SELECT request_id AS "requestId", attempt, cancel_requested_at IS NOT NULL AS cancel,
       is_next AND fits AS "isWritten", is_next AND NOT fits AS "isTooLarge",
       events + CASE WHEN is_next AND fits THEN count ELSE 0 END AS next,
       next_index + CASE WHEN is_next AND fits THEN delta_count ELSE 0 END AS "nextIndex"
FROM held`;

/**
 * Returns one result per request; none: the run holds no lease. A batch whose `from` is not the counter of its lease
 * changes nothing, and `next` is where to continue. A request is in at most one batch.
 */
export async function appendEvents(
  database: Database,
  batches: readonly EventBatch[],
): Promise<Map<string, Appended>> {
  const values = valuesOf(batches);
  const rows = await database.query<Row>(appendStatement, values).catch(async (error: unknown) => {
    // A machine that slept for hours wakes up at a time for which no partition was made.
    if (!isWithoutPartition(error)) throw error;
    await makeOutputPartitions(database);
    return database.query<Row>(appendStatement, values);
  });
  return new Map(rows.map(({ requestId, ...appended }) => [requestId, appended]));
}

type Row = Appended & { requestId: string };

function valuesOf(batches: readonly EventBatch[]): unknown[] {
  return [
    uuidArray(batches.map(({ requestId }) => requestId)),
    uuidArray(batches.map(({ token }) => token)),
    batches.map(({ from }) => from),
    batches.map(({ count }) => count),
    jsonArray(batches.map(({ logs }) => (logs.length === 0 ? null : JSON.stringify(logs.map(toWire))))),
    // The type real refuses numbers so close to 0 that they would become 0.
    batches.map(({ progress }) => progress && Math.fround(progress.value)),
    batches.map(({ progress }) => progress?.message ?? null),
    jsonArray(batches.map(({ deltas }) => (deltas.length === 0 ? null : `[${deltas.join(',')}]`))),
    batches.map(({ deltas }) => deltas.length),
    batches.map(({ deltas }) => deltas.reduce((sum, delta) => sum + Buffer.byteLength(delta), 0)),
    batches.map(({ maxOutputBytes }) => maxOutputBytes ?? null),
    jsonArray(batches.map(({ usage }) => usage)),
  ];
}

const toWire = ({ atMs, ...line }: LogLine): object => ({ ...line, at_ms: atMs });

/** PostgreSQL reports a missing partition as a check_violation, too. */
const isWithoutPartition = (error: unknown): boolean =>
  (error as { code?: unknown }).code === '23514' && /no partition of relation/.test(String(error));
