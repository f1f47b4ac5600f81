import type { DataSource } from 'typeorm';
import { type DaySpan, firstIdOf, type Within, withinSpan } from '../../../database/days.js';
import type { IdRange } from '../history.js';
import { errorCode, errorStatus } from '../request-columns.js';
import type { OperatorFilter } from '../request-filter.js';
import type { StatusRow } from '../status-row.js';
import { statusColumns } from './read-status.js';
import { conditionsOf, isNode, Values } from './request-conditions.js';

/*
 * Reads what operators ask about the requests of all keys. The texts differ with the filter, so that the planner sees
 * only the conditions that count. They run on the small pool, which has the usual planner and a statement timeout.
 * Race: none (read only).
 *
 * A statement reads one span of days. Its bounds are literals wherever a request or its attempts are looked up, so that
 * it locks the tables of these days only.
 */

/** The condition of failed attempts: each failed request has one. */
const failedAttempts = `outcome IN ('failed', 'timed_out', 'lost')`;

type LeadTerms = Pick<OperatorPage, 'filter' | 'isFewOpen' | 'firstId' | 'beforeId' | 'span'>;

/**
 * Returns a SELECT of ids, few of which lead to requests that do not fit, newest first: `id`, and whether it `may_fit`.
 * undefined: the requests themselves are read. Each id costs a look-up of its request, five times as much as reading
 * one in order.
 */
function leadsOf({ filter, isFewOpen, span, ...range }: LeadTerms, looks: string, values: Values) {
  const ofSpan = withinSpan(span);
  const within = (column: string): string => `${rangeOf(range, values, column)} AND ${ofSpan(column)}`;
  if (filter.ids !== undefined)
    return `SELECT DISTINCT id, true AS may_fit FROM unnest(${values.bind(filter.ids, 'uuid[]')}) AS wanted (id)
      WHERE ${within('id')} ORDER BY id DESC`;
  if (filter.state === 'IN_PROGRESS')
    return `SELECT request_id AS id, true AS may_fit FROM lease WHERE ${within('request_id')} ORDER BY request_id DESC`;
  if (isOfOpen(filter, isFewOpen))
    return `SELECT DISTINCT id, true AS may_fit FROM (SELECT request_id AS id FROM queue_entry
        UNION ALL SELECT request_id FROM delayed_entry UNION ALL SELECT request_id FROM lease) AS open
      WHERE ${within('id')} ORDER BY id DESC`;
  if (isOfNode(filter, isFewOpen)) {
    const isThere = isNode(filter.node!, values);
    const runs = ['attempt', 'lease'].map(
      (
        table,
      ) => `(SELECT request_id, bool_or(${isThere}) AS may_fit FROM ${table} WHERE ${within('request_id')}
        GROUP BY request_id ORDER BY request_id DESC LIMIT ${looks})`,
    );
    return `SELECT request_id AS id, bool_or(may_fit) AS may_fit FROM (${runs.join(' UNION ALL ')}) AS run
      GROUP BY request_id ORDER BY request_id DESC`;
  }
  if (filter.keyId !== undefined) return undefined;
  if (isOfAttempts(filter)) {
    const { code } = filter;
    const mayFit =
      code === undefined ? 'true' : `error_code = ${values.bind(code, 'text')} OR outcome = 'lost'`;
    return `SELECT request_id AS id, bool_or(${mayFit}) AS may_fit FROM attempt
      WHERE ${failedAttempts} AND ${within('request_id')} GROUP BY request_id ORDER BY request_id DESC`;
  }
  return undefined;
}

const isOfOpen = ({ state, isOpen }: OperatorFilter, isFewOpen: boolean): boolean =>
  (state === 'IN_QUEUE' || isOpen === true) && isFewOpen;

/** True if the SELECT of ids checks the node of each id. */
const isOfNode = (filter: OperatorFilter, isFewOpen: boolean): boolean =>
  filter.node !== undefined &&
  filter.ids === undefined &&
  filter.state !== 'IN_PROGRESS' &&
  !isOfOpen(filter, isFewOpen);

/** A request that was cancelled or expired has its code from no attempt. */
function isOfAttempts({ outcome, code }: OperatorFilter): boolean {
  return outcome === 'failed' || (code !== undefined && code !== 'cancelled' && code !== 'expired');
}

/** True if each row costs a look-up, by its id or by its key. */
export function isLookedUp(filter: OperatorFilter, isFewOpen: boolean): boolean {
  const span = { firstDay: 0, lastDay: undefined };
  const terms = { filter, isFewOpen, firstId: '', beforeId: '', span };
  return filter.keyId !== undefined || leadsOf(terms, '', new Values()) !== undefined;
}

function rangeOf({ firstId, beforeId }: IdRange, values: Values, column: string): string {
  return `${column} >= ${values.bind(firstId, 'uuid')} AND ${column} < ${values.bind(beforeId, 'uuid')}`;
}

export interface OperatorPage extends IdRange {
  span: DaySpan;
  filter: OperatorFilter;
  /** True if so few requests wait that all of them can be sorted. */
  isFewOpen: boolean;
  max: number;
  /** The most rows that are read. */
  maxLooks: number;
}

/** A request of any key, with the other facts that operators need. */
export interface OperatorRow extends StatusRow {
  keyName: string | null;
  /** The node or worker that runs it, or ran it last. */
  nodeName: string | null;
  /** The failure message of its last run, in the model's own words; null: it did not fail by its model. */
  runMessage: string | null;
  /** The media type of the first picture in its output, unless the output is large. */
  outputType: string | null;
}

const largePicture = 1_000_000;
/** The message of the last failed attempt of a request. */
const runMessage = (id: string, within: Within): string =>
  `(SELECT error_message FROM attempt WHERE attempt.request_id = ${id} AND ${within('attempt.request_id')} AND outcome = 'failed' ORDER BY attempt DESC LIMIT 1)`;
/** Columns of `OperatorRow`, from a row of `request`. */
const anyColumns = (within: Within): string => `${statusColumns(within)},
  (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
  (SELECT (SELECT name FROM node_name WHERE id = coalesce(run.node_id, run.worker_id))
   FROM (
     (SELECT node_id, worker_id FROM lease WHERE lease.request_id = request.id)
     UNION ALL
     (SELECT node_id, worker_id FROM attempt WHERE attempt.request_id = request.id AND ${within('attempt.request_id')}
      ORDER BY attempt DESC LIMIT 1)
   ) AS run LIMIT 1) AS "nodeName",
  CASE WHEN outcome = 'failed' AND ${errorCode} LIKE 'model_%' THEN ${runMessage('request.id', within)} END AS "runMessage",
  CASE WHEN outcome = 'succeeded' AND pg_column_size(output) < ${largePicture}
    THEN coalesce(
      substring(left(output::text, 4000) FROM '"data:(image/(?:png|jpeg|gif|webp));base64,'),
      substring(left(output::text, 4000)
        FROM '/v1/files/[0-9a-f-]{36}/[^"/\\\\?#]+", ?"content_type": ?"(image/(?:png|jpeg|gif|webp))"')
    ) END AS "outputType"`;

/** Returns the newest first. `fits`: false for the last row that was read if it does not belong in the list. */
export function listAll(
  source: DataSource,
  page: OperatorPage,
): Promise<(OperatorRow & { looks: number; lookedId: string; fits: boolean })[]> {
  const values = new Values();
  const rows = looked(page, values);
  const looks = values.bind(page.maxLooks, 'integer');
  // The rows keep the order in which they are read, so that nothing is sorted and the reads end with the page.
  return source.query(
    `SELECT ${anyColumns(withinSpan(page.span))}, looks, looked_id AS "lookedId", fits FROM (${rows}) AS request
     WHERE fits OR looks = ${looks} ORDER BY looked_id DESC LIMIT ${values.bind(page.max, 'integer')}`,
    values.list,
  );
}

/** The failures of one model, code and status. */
export interface FailureCount {
  modelId: string;
  code: string;
  status: string;
  count: number;
  /** The message of the newest one. */
  message: string | null;
  lastAt: Date;
}

type FailureRow = Omit<FailureCount, 'message'> & { looks: number; runMessage: string | null } & Pick<
    StatusRow,
    'error'
  >;

/**
 * Counts the rows that fit, among those that are read. If only failed requests fit, also counts why they failed, most
 * frequent cause first.
 */
export async function countAll(
  source: DataSource,
  page: OperatorPage,
): Promise<{ count: number; looks: number; failures?: FailureCount[] }> {
  const values = new Values();
  const counts = 'count(*) FILTER (WHERE fits)::integer AS count, count(*)::integer AS looks';
  if (page.filter.outcome !== 'failed') {
    const [row] = await source.query<{ count: number; looks: number }[]>(
      `SELECT ${counts} FROM (${looked(page, values)}) AS request`,
      values.list,
    );
    return row!;
  }
  const within = withinSpan(page.span);
  const rows = await source.query<FailureRow[]>(
    `SELECT count, looks, "modelId", code, status, "lastAt",
       CASE WHEN code LIKE 'model_%' THEN ${runMessage('last[2]::uuid', within)} END AS "runMessage",
       (SELECT error FROM request WHERE request.id = last[2]::uuid AND ${within('request.id')}) AS error
     FROM (
       SELECT ${counts}, model_id AS "modelId", code, status::text AS status, max(completed_at) FILTER (WHERE fits) AS "lastAt",
         -- The newest, without a sort.
         min(ARRAY[lpad(looks::text, 6, '0'), looked_id::text]) FILTER (WHERE fits) AS last
       FROM (SELECT *, ${errorCode} AS code, ${errorStatus} AS status FROM (${looked(page, values)}) AS request) AS request
       GROUP BY model_id, code, status
     ) AS failure
     ORDER BY count DESC, "modelId", code`,
    values.list,
  );
  const sum = (name: 'count' | 'looks'): number => rows.reduce((all, row) => all + row[name], 0);
  const failures = rows
    .filter(({ count }) => count > 0)
    .map(({ modelId, code, status, count, lastAt, runMessage: said, error }) => {
      return { modelId, code, status, count, lastAt, message: said ?? error?.message ?? null };
    });
  return { count: sum('count'), looks: sum('looks'), failures };
}

/** Returns a SELECT of `id`, `looks` and `fits` of the rows that are read, newest first. */
export function sliceOf(page: OperatorPage): { text: string; values: unknown[] } {
  const values = new Values();
  return {
    text: `SELECT looked_id AS id, looks, fits FROM (${looked(page, values)}) AS request`,
    values: values.list,
  };
}

function looked({ filter, isFewOpen, maxLooks, span, ...all }: OperatorPage, values: Values): string {
  const within = withinSpan(span);
  const range = rangeWithin(all, span);
  const fits = (asked: OperatorFilter): string => `(${conditionsOf(asked, values, within)}) IS TRUE AS fits`;
  const looks = values.bind(maxLooks, 'integer');
  const leads = leadsOf({ filter, isFewOpen, span, ...range }, looks, values);
  if (leads !== undefined)
    return `SELECT request.*, lead.id AS looked_id, looks, ${fits(isOfNode(filter, isFewOpen) ? { ...filter, node: undefined } : filter)}
    FROM (SELECT id, may_fit, row_number() OVER (ORDER BY id DESC) AS looks FROM (${leads} LIMIT ${looks}) AS lead) AS lead
    LEFT JOIN LATERAL (SELECT * FROM request WHERE lead.may_fit AND request.id = lead.id AND ${within('request.id')} LIMIT 1) AS request ON true`;
  const ofKey = filter.keyId === undefined ? '' : `api_key_id = ${values.bind(filter.keyId, 'uuid')} AND `;
  return `SELECT request.*, request.id AS looked_id, row_number() OVER (ORDER BY request.id DESC) AS looks, ${fits(filter)}
    FROM (SELECT * FROM request WHERE ${ofKey}${rangeOf(range, values, 'request.id')} AND ${within('request.id')} ORDER BY request.id DESC LIMIT ${looks}) AS request`;
}

/** Returns the part of a range that is in a span. */
export function rangeWithin({ firstId, beforeId }: IdRange, span: DaySpan): IdRange {
  const first = firstIdOf(span.firstDay);
  const before = span.lastDay === undefined ? beforeId : firstIdOf(span.lastDay + 1);
  return { firstId: firstId > first ? firstId : first, beforeId: beforeId < before ? beforeId : before };
}
