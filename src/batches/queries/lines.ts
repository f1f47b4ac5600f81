import { uuidArray } from '../../database/binary-array.js';
import { statementOfDays, type Within } from '../../database/days.js';
import { columnsOf, type Queries, statement } from '../../database/statement.js';
import type { FinishedOutcome, RefusedOutcome, SegmentKind } from '../batch.js';
import type { LineError } from '../line-formats.js';
import { type LeasedBatch, LeaseLost } from './drive.js';
import { lineOutcome, requestOfLine, statementOfBatch } from './read-batches.js';

type Lease = Pick<LeasedBatch, 'id' | 'token' | 'endsAs'>;

/** A line that was read: it became a request, or was refused. */
export interface RecordedLine {
  /** The number of the line in the input. */
  line: number;
  customId: string;
  requestId: string | null;
  refused: { outcome: RefusedOutcome; error: LineError } | null;
}

/*
 * Purpose: records lines and how far the input was read, in the commit of their requests.
 * Race: two drivers cannot record the same lines: the second finds another token, or another place in the input. A
 *   cancel before it makes it find another end. It then records nothing, and the requests are rolled back.
 * Index: batch_pkey; inserts into batch_line_pkey.
 */
const recordStatement = statement('record_batch_lines')`WITH held AS (
  UPDATE batch
  SET read_lines = read_lines + cardinality($6::integer[]), read_bytes = $4::bigint,
      leased_until = greatest(leased_until, clock_timestamp() + interval '15 seconds')
  WHERE id = $1::uuid AND lease_token = $2::uuid AND read_bytes = $3::bigint AND ended_at IS NULL
    AND ends_as IS NOT DISTINCT FROM $5::text
  RETURNING id
)
INSERT INTO batch_line (batch_id, line, request_id, custom_id, outcome, error)
SELECT held.id, line.number, line.request_id, line.custom_id, line.outcome, line.error::json
FROM held
CROSS JOIN unnest($6::integer[], $7::uuid[], $8::text[], $9::text[], $10::text[])
  AS line (number, request_id, custom_id, outcome, error)
RETURNING line`;

export async function recordLines(
  queries: Queries,
  { id, token, endsAs }: Lease,
  lines: readonly RecordedLine[],
  { from, to }: { from: number; to: number },
): Promise<void> {
  const rows = await queries.query(recordStatement, [
    id,
    token,
    from,
    to,
    endsAs,
    ...columnsOf(lines, 'line', 'requestId', 'customId'),
    lines.map(({ refused }) => refused?.outcome ?? null),
    lines.map(({ refused }) => refused && JSON.stringify(refused.error)),
  ]);
  if (rows.length !== lines.length) throw new LeaseLost('the batch was taken over, or is being cancelled');
}

/** Lines that are not in a segment yet. */
export interface Progress {
  /** Lines whose requests wait or run. */
  open: number;
  finished: number;
}

const withRequests = (
  within: Within,
  columns: string,
  requestColumns?: string,
): string => `SELECT ${columns}, ${lineOutcome} AS outcome
    FROM batch
    JOIN batch_line AS line ON line.batch_id = batch.id
    ${requestOfLine(within, requestColumns)}
    WHERE batch.id = $1::uuid`;

/*
 * Purpose: counts the lines of a batch that are not in a segment yet.
 * Race: none: a line that finishes later is counted the next time.
 * Index: batch_line_pkey, a window of lines; request_pkey.
 */
const progressStatement = statementOfBatch(
  'batch_progress',
  (within) => `SELECT
  (count(*) FILTER (WHERE outcome IN ('waiting', 'running')))::integer AS open,
  (count(*) FILTER (WHERE outcome NOT IN ('waiting', 'running')))::integer AS finished
FROM (
  ${withRequests(within, 'line.line')}
) AS line`,
);

export async function readProgress(queries: Queries, id: string): Promise<Progress> {
  return (await queries.query<Progress>(progressStatement(id), [id]))[0]!;
}

/*
 * Purpose: finds requests of a batch that wait or run, to cancel them.
 * Race: those that end meanwhile are found to have ended.
 * Index: batch_line_pkey, request_pkey.
 */
const openStatement = statementOfBatch(
  'open_lines_of_batch',
  (within) => `SELECT request_id AS id FROM (
  ${withRequests(within, 'line.request_id')}
) AS line
WHERE outcome IN ('waiting', 'running')`,
);

export async function openRequestsOf(queries: Queries, batchId: string): Promise<string[]> {
  return (await queries.query<{ id: string }>(openStatement(batchId), [batchId])).map(({ id }) => id);
}

/** A finished line that is not in a segment yet. */
export interface FinishedLine {
  line: number;
  customId: string;
  requestId: string | null;
  outcome: FinishedOutcome;
  /** Why the line was not submitted, as JSON text. null: it has a request. */
  error: string | null;
  /** True: its request was cancelled because the batch was cancelled or has expired. */
  isEndedByBatch: boolean;
  completedAtMs: number;
}

const finishedColumns = `line.line, line.custom_id, line.request_id, line.error::text AS error,
           coalesce(request.completed_at, clock_timestamp()) AS completed_at,
           coalesce(request.outcome = 'cancelled' AND batch.ends_as IS NOT NULL, false) AS ended_by_batch`;

const isOfKind = `CASE $2::text WHEN 'output' THEN outcome = 'completed'
  ELSE outcome IN ('failed', 'cancelled', 'expired') END`;

/*
 * Purpose: reads finished lines that belong into one of the two files, without the outputs and errors of their requests.
 *   With `segments`, reads the segments of the file in the same snapshot, so that what is read is the file at one moment.
 * Race: none: a line is in a segment or among these.
 * Index: batch_line_pkey, request_pkey; batch_segment_pkey.
 */
const finishedStatement = statementOfBatch(
  'finished_lines_of_batch',
  (within) => `SELECT
  line, custom_id AS "customId", request_id AS "requestId", outcome, error, ended_by_batch AS "isEndedByBatch",
  extract(epoch FROM completed_at)::float8 * 1000 AS "completedAtMs"
FROM (
  ${withRequests(within, finishedColumns, ', completed_at')}
) AS line
WHERE ${isOfKind}
ORDER BY line LIMIT $3::integer`,
);

export function finishedLines(
  queries: Queries,
  batchId: string,
  kind: SegmentKind,
  limit: number,
): Promise<FinishedLine[]> {
  return queries.query<FinishedLine>(finishedStatement(batchId), [batchId, kind, limit]);
}

const fileStatement = statementOfBatch(
  'file_of_batch',
  (within) => `SELECT
  (
    SELECT coalesce(json_agg(json_build_object('fileId', file_id, 'bytes', bytes) ORDER BY number), '[]')
    FROM batch_segment WHERE batch_id = $1::uuid AND kind = $2::text
  ) AS segments,
  ARRAY(
    SELECT request_id::text FROM erased_line WHERE batch_id = $1::uuid AND NOT is_gone
  ) AS erased,
  (
    SELECT coalesce(json_agg(json_build_object(
      'line', line, 'customId', custom_id, 'requestId', request_id, 'outcome', outcome, 'error', error, 'isEndedByBatch', ended_by_batch,
      'completedAtMs', extract(epoch FROM completed_at)::float8 * 1000
    ) ORDER BY line), '[]')
    FROM (
      ${withRequests(within, finishedColumns, ', completed_at')}
    ) AS line
    WHERE ${isOfKind}
  ) AS lines`,
);

/** A file that a batch writes, at one moment. */
export interface BatchFile {
  segments: { fileId: string; bytes: number }[];
  /** Requests that were erased. The segments may still have their lines. */
  erased: string[];
  lines: FinishedLine[];
}

export async function readBatchFile(
  queries: Queries,
  batchId: string,
  kind: SegmentKind,
): Promise<BatchFile> {
  return (await queries.query<BatchFile>(fileStatement(batchId), [batchId, kind]))[0]!;
}

/*
 * Purpose: reads outputs or errors of requests, as many of the first ones as fit into some bytes, and at least one. The
 *   recursion takes one request at a time and ends with the bytes, so that it reads none of those that do not fit. Its
 *   rows have the values as they are stored, large ones as references: as texts, they would fill temporary files.
 * Race: a value that was erased or emptied meanwhile is missing.
 * Index: request_pkey, in the days of the ids.
 */
const resultsStatement = statementOfDays(
  'results_of_lines',
  (within) => `WITH RECURSIVE own AS (
  SELECT 0 AS place, NULL::uuid AS id, NULL::json AS result, 0::bigint AS bytes
  UNION ALL
  SELECT own.place + 1, ($1::uuid[])[own.place + 1], next.result,
         own.bytes + coalesce(octet_length(next.result::text), 0)
  FROM own
  LEFT JOIN LATERAL (
    SELECT CASE $3::text WHEN 'output' THEN output ELSE error END AS result FROM request
    WHERE request.id = ($1::uuid[])[own.place + 1] AND ${within('request.id')} LIMIT 1
  ) AS next ON true
  WHERE own.place < cardinality($1::uuid[]) AND own.bytes < $2::bigint
)
SELECT id, result::text AS result FROM own WHERE place > 0`,
);

/** Returns JSON texts by the ids of the requests; null: it is gone. Those that are not in the map did not fit. */
export async function readResults(
  queries: Queries,
  kind: SegmentKind,
  requestIds: readonly string[],
  maxBytes: number,
): Promise<Map<string, string | null>> {
  if (requestIds.length === 0) return new Map();
  const values = [uuidArray(requestIds), maxBytes, kind];
  const rows = await queries.query<{ id: string; result: string | null }>(
    resultsStatement(...requestIds),
    values,
  );
  return new Map(rows.map(({ id, result }) => [id, result]));
}

export interface Segment {
  kind: SegmentKind;
  fileId: string;
  bytes: number;
  /** The lines in it, by what became of them. */
  lines: readonly Pick<FinishedLine, 'line' | 'outcome'>[];
}

/*
 * Purpose: makes a stored file a segment, counts its lines and forgets them.
 * Race: a driver whose token is not that of the lease any more changes nothing. Its file is deleted after a day.
 * Index: batch_pkey, batch_line_pkey, batch_segment_pkey.
 */
const segmentStatement = statement('record_batch_segment')`WITH held AS (
  UPDATE batch
  SET completed = completed + $6::integer, failed = failed + $7::integer, cancelled = cancelled + $8::integer,
      expired = expired + $9::integer, collected_at = clock_timestamp(),
      output_bytes = output_bytes + CASE WHEN $3::text = 'output' THEN $5::bigint ELSE 0 END,
      error_bytes = error_bytes + CASE WHEN $3::text = 'errors' THEN $5::bigint ELSE 0 END,
      leased_until = greatest(leased_until, clock_timestamp() + interval '15 seconds')
  WHERE id = $1::uuid AND lease_token = $2::uuid AND ended_at IS NULL
  RETURNING id
), segment AS (
  INSERT INTO batch_segment (batch_id, kind, number, file_id, lines, bytes)
  SELECT id, $3::text,
         coalesce((SELECT max(number) FROM batch_segment WHERE batch_id = held.id AND kind = $3::text), 0) + 1,
         $4::uuid, cardinality($10::integer[]), $5::bigint
  FROM held
)
DELETE FROM batch_line AS line USING held
WHERE line.batch_id = $1::uuid AND line.line = ANY ($10::integer[])
RETURNING line.line`;

export async function recordSegment(
  queries: Queries,
  { id, token }: Lease,
  { kind, fileId, bytes, lines }: Segment,
): Promise<void> {
  const count = (outcome: FinishedOutcome): number => lines.filter((one) => one.outcome === outcome).length;
  const rows = await queries.query(segmentStatement, [
    id,
    token,
    kind,
    fileId,
    bytes,
    count('completed'),
    count('failed'),
    count('cancelled'),
    count('expired'),
    lines.map(({ line }) => line),
  ]);
  if (rows.length !== lines.length) throw new LeaseLost('the batch was taken over');
}
