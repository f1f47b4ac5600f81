import { priorityOf } from '../../auth/caller.js';
import { bySpan, dayOf, firstIdOf, statementOfDays, today, type Within } from '../../database/days.js';
import { type Queries, type Statement, statement } from '../../database/statement.js';
import { type Batch, type BatchCounts, type BatchStatus, type LineFault, maxWindowDays } from '../batch.js';
import { epochMs } from '../../database/epoch-ms.js';

/** What has become of a line, from `line`, a row of batch_line, and `request`, its request. */
export const lineOutcome = `CASE
    WHEN line.outcome IS NOT NULL THEN line.outcome
    WHEN request.state IS NULL THEN 'failed'
    WHEN request.state = 'IN_QUEUE' THEN 'waiting'
    WHEN request.state = 'IN_PROGRESS' THEN 'running'
    WHEN request.outcome = 'succeeded' AND NOT request.has_output THEN 'failed'
    WHEN request.outcome = 'succeeded' THEN 'completed'
    WHEN request.outcome = 'cancelled' THEN coalesce(batch.ends_as, 'cancelled')
    ELSE request.outcome
  END`;

/**
 * Joins lines with their requests. LATERAL keeps the planner from reading whole days: it finds each request by its id.
 * A request that retention has deleted has a state that is null.
 */
export const requestOfLine = (within: Within, columns = ''): string => `LEFT JOIN LATERAL (
    SELECT state, outcome, output IS NOT NULL AS has_output${columns} FROM request
    WHERE request.id = line.request_id AND ${within('request.id')} LIMIT 1
  ) AS request ON true`;

/**
 * A statement about batches, which locks only the days in which their lines may have been submitted by now. The day
 * before the first and the one after the last are among them, because the clocks of nodes differ.
 */
export function statementOfBatch(
  name: string,
  textOf: (within: Within) => string,
): (...ids: readonly string[]) => Statement {
  const ofDays = statementOfDays(name, textOf);
  return (...ids) => {
    const days = ids.map(dayOf);
    const newest = Math.max(...days);
    const last = Math.max(newest, Math.min(newest + maxWindowDays, today()));
    return ofDays(firstIdOf(Math.min(...days) - 1), firstIdOf(last + 1));
  };
}

export const batchColumns = `batch.id, batch.api_key_id AS "keyId", batch.status, batch.format, batch.metadata,
       batch.model_id AS "modelId", batch.tag, batch.priority AS rank, batch.input_file_id AS "inputFileId",
       batch.webhook_url AS "webhookUrl", batch.window_seconds AS "windowSeconds", batch.errors,
       batch.output_bytes AS "outputBytes", batch.error_bytes AS "errorBytes", batch.base_url AS "baseUrl",
       ${epochMs('batch.created_at')} AS "createdAtMs", ${epochMs('batch.started_at')} AS "startedAtMs",
       ${epochMs('batch.finalizing_at')} AS "finalizingAtMs", ${epochMs('batch.cancelling_at')} AS "cancellingAtMs",
       ${epochMs('batch.ended_at')} AS "endedAtMs", ${epochMs('batch.expires_at')} AS "expiresAtMs",
       batch.total, live.running,
       batch.completed + live.completed AS completed, batch.failed + live.failed AS failed,
       batch.cancelled + live.cancelled AS cancelled, batch.expired + live.expired AS expired`;

/** `within`: the days of the lines that are not in a segment yet. */
export const liveCounts = (within: Within): string => `CROSS JOIN LATERAL (
  SELECT ${['running', 'completed', 'failed', 'cancelled', 'expired']
    .map((name) => `(count(*) FILTER (WHERE outcome = '${name}'))::integer AS ${name}`)
    .join(', ')}
  FROM (
    SELECT ${lineOutcome} AS outcome
    FROM batch_line AS line
    ${requestOfLine(within)}
    WHERE line.batch_id = batch.id
  ) AS line
) AS live`;

/*
 * Purpose: reads batches, newest first, with the counts of their lines at one moment: those in segments, and those that
 *   are not.
 * Race: none: one snapshot has the counters, the lines and their requests. A line moves into the counters in one commit.
 * Index: batch_pkey; batch_line_pkey, a window of lines per open batch; request_pkey.
 */
const findStatement = statementOfBatch(
  'find_batches',
  (within) => `SELECT ${batchColumns}
FROM batch
${liveCounts(within)}
WHERE batch.id = ANY ($1::uuid[]) AND ($2::uuid IS NULL OR batch.api_key_id = $2::uuid)
ORDER BY batch.id DESC`,
);

/*
 * Purpose: lists the batches of a key, newest first.
 * Race: one that is deleted before it is read makes the page too short, so the page is listed again.
 * Index: batch_by_key, from one id on.
 */
const listStatement = statement('list_batches')`SELECT id
FROM batch
WHERE api_key_id = $1::uuid
  AND ($2::uuid IS NULL OR id < $2::uuid)
  AND ($3::text IS NULL OR status = $3::text)
  AND ($4::text IS NULL OR tag = $4::text)
ORDER BY id DESC LIMIT $5::integer`;

/** A row of these statements. */
export interface BatchRow
  extends Omit<Batch, 'counts' | 'priority' | 'metadata'>, Omit<BatchCounts, 'waiting'> {
  rank: number;
  metadata: Record<string, unknown>;
  status: BatchStatus;
  errors: LineFault[];
}

export function toBatch(row: BatchRow): Batch {
  const { rank, total, running, completed, failed, cancelled, expired, ...batch } = row;
  const waiting = total === null ? 0 : total - running - completed - failed - cancelled - expired;
  const counts = { total, waiting, running, completed, failed, cancelled, expired };
  return { ...batch, priority: priorityOf(rank), counts };
}

/** `keyId`: a batch of another key is not found. undefined: any. */
export async function findBatch(queries: Queries, id: string, keyId?: string): Promise<Batch | undefined> {
  const [row] = await queries.query<BatchRow>(findStatement(id), [[id], keyId ?? null]);
  return row && toBatch(row);
}

export interface BatchesPage {
  status?: BatchStatus | undefined;
  tag?: string | undefined;
  /** The last id of the page before. */
  before?: string | undefined;
  limit: number;
}

export async function listBatches(
  queries: Queries,
  keyId: string,
  { before, status, tag, limit }: BatchesPage,
): Promise<Batch[]> {
  const values = [keyId, before ?? null, status ?? null, tag ?? null, limit];
  const list = (): Promise<{ id: string }[]> => queries.query(listStatement, values);
  return (await readListed<BatchRow>(queries, list, findStatement, [keyId])).map(toBatch);
}

/**
 * Lists the batches of a page, newest first, and reads them, those of the same days by one statement. A page that is too
 * short would be taken for the last one, so it is listed again if a batch was deleted before it was read.
 */
export async function readListed<Row extends object>(
  queries: Queries,
  list: () => Promise<{ id: string }[]>,
  statementOf: (...ids: readonly string[]) => Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  for (;;) {
    const listed = await list();
    const rows: Row[] = [];
    for (const span of bySpan(listed, ({ id }) => id)) {
      const ids = span.map(({ id }) => id);
      rows.push(...(await queries.query<Row>(statementOf(...ids), [ids, ...values])));
    }
    if (rows.length === listed.length) return rows;
  }
}
