import type { DataSource } from 'typeorm';
import type { AnyRequestFilter } from '../request-filter.js';
import type { StatusRow } from '../status-row.js';
import { statusColumns } from './read-status.js';

/*
 * What operators ask about the requests of all keys. The texts differ with what is asked, so that the planner sees only
 * the conditions that count; they run on the small pool that has the usual planner and a statement timeout.
 * Race: none; these are looks.
 */

/** Failed attempts of requests: each failed request has one. */
const failedAttempts = `outcome IN ('failed', 'timed_out', 'lost')`;

/** Values are bound in the order in which they are named. */
class Values {
  readonly list: unknown[] = [];

  bind(value: unknown, type: string): string {
    return `$${this.list.push(value)}::${type}`;
  }
}

/** Ids in [firstId, beforeId). */
export interface IdRange {
  firstId: string;
  beforeId: string;
}

/** Whether a row of `request` is meant. */
function conditionsOf(filter: AnyRequestFilter, values: Values): string {
  const conditions: string[] = [];
  const equal = (column: string, value: unknown, type: string): void => {
    if (value !== undefined) conditions.push(`${column} = ${values.bind(value, type)}`);
  };
  equal('request.model_id', filter.modelId, 'text');
  equal('request.state', filter.state, 'text');
  equal('request.outcome', filter.outcome, 'text');
  equal('request.api_key_id', filter.keyId, 'uuid');
  equal(`request.error ->> 'code'`, filter.code, 'text');
  const time = (comparison: string, ms: number | undefined): void => {
    if (ms !== undefined)
      conditions.push(`request.created_at ${comparison} to_timestamp(${values.bind(ms / 1_000, 'float8')})`);
  };
  time('>=', filter.createdAfterMs);
  time('<', filter.createdBeforeMs);
  if (filter.isOpen === true) conditions.push(`request.state <> 'COMPLETED'`);
  if (filter.isKept === true) conditions.push(`request.state = 'COMPLETED' AND request.erased_at IS NULL`);
  if (filter.tags !== undefined) conditions.push(`request.tags @> ${values.bind(filter.tags, 'text[]')}`);
  if (filter.node !== undefined) {
    const named = `SELECT id FROM node_name WHERE name = ${values.bind(filter.node, 'text')}`;
    conditions.push(`(EXISTS (SELECT FROM attempt WHERE attempt.request_id = request.id AND node_id IN (${named}))
      OR EXISTS (SELECT FROM lease WHERE lease.request_id = request.id AND node_id IN (${named})))`);
  }
  return conditions.length === 0 ? 'true' : conditions.join(' AND ');
}

/** Where the rows come from, newest first: whatever leads to few that do not fit. */
function sourceOf(filter: AnyRequestFilter, range: string, isFewOpen: boolean, values: Values): string {
  const byIds = (ids: string): string => `SELECT request.* FROM (${ids}) AS wanted
    CROSS JOIN LATERAL (SELECT * FROM request WHERE request.id = wanted.id LIMIT 1) AS request`;
  const within = (column: string): string => range.replaceAll('request.id', column);
  if (filter.ids !== undefined)
    return byIds(`SELECT DISTINCT id FROM unnest(${values.bind(filter.ids, 'uuid[]')}) AS wanted (id)
      WHERE ${within('id')} ORDER BY id DESC`);
  if (filter.state === 'IN_PROGRESS')
    return byIds(`SELECT request_id AS id FROM lease WHERE ${within('request_id')} ORDER BY request_id DESC`);
  if ((filter.state === 'IN_QUEUE' || filter.isOpen === true) && isFewOpen)
    return byIds(`SELECT DISTINCT id FROM (SELECT request_id AS id FROM queue_entry
        UNION ALL SELECT request_id FROM delayed_entry UNION ALL SELECT request_id FROM lease) AS open
      WHERE ${within('id')} ORDER BY id DESC`);
  if (filter.keyId !== undefined) {
    const key = values.bind(filter.keyId, 'uuid');
    return `SELECT request.* FROM request WHERE api_key_id = ${key} AND ${range} ORDER BY request.id DESC`;
  }
  if (filter.outcome === 'failed' || filter.code !== undefined)
    return byIds(`SELECT DISTINCT request_id AS id FROM attempt
      WHERE ${failedAttempts} AND ${within('request_id')} ORDER BY request_id DESC`);
  return `SELECT request.* FROM request WHERE ${range} ORDER BY request.id DESC`;
}

function rangeOf({ firstId, beforeId }: IdRange, values: Values): string {
  return `request.id >= ${values.bind(firstId, 'uuid')} AND request.id < ${values.bind(beforeId, 'uuid')}`;
}

export interface AnyPage extends IdRange {
  filter: AnyRequestFilter;
  /** Whether so few wait that all of them can be sorted. */
  isFewOpen: boolean;
  max: number;
  /** Rows that are looked at. */
  maxLooks: number;
}

/** A request of any key, with what operators want to know besides. */
export interface AnyRow extends StatusRow {
  keyName: string | null;
  /** Where it runs, or ran last. */
  nodeName: string | null;
  /** Of the first picture in its output, where that is not large. */
  outputType: string | null;
}

const largePicture = 1_000_000;
/** Of a row of `request`. */
const anyColumns = `${statusColumns},
  (SELECT name FROM api_key WHERE api_key.id = request.api_key_id) AS "keyName",
  (SELECT name FROM node_name WHERE node_name.id = coalesce(
    (SELECT node_id FROM lease WHERE lease.request_id = request.id),
    (SELECT node_id FROM attempt WHERE attempt.request_id = request.id ORDER BY attempt DESC LIMIT 1)
  )) AS "nodeName",
  CASE WHEN outcome = 'succeeded' AND pg_column_size(output) < ${largePicture}
    THEN substring(left(output::text, 4000) FROM '"data:(image/(?:png|jpeg|gif|webp));base64,') END AS "outputType"`;

/** Newest first. `fits`: false for the last one that was looked at, where it is no part of the list. */
export function listAll(
  source: DataSource,
  page: AnyPage,
): Promise<(AnyRow & { looks: number; fits: boolean })[]> {
  const values = new Values();
  const rows = looked(page, values);
  const looks = values.bind(page.maxLooks, 'integer');
  return source.query(
    `SELECT ${anyColumns}, looks, fits FROM (${rows}) AS request
     WHERE fits OR looks = ${looks} ORDER BY looks LIMIT ${values.bind(page.max, 'integer')}`,
    values.list,
  );
}

/** How many fit, among those that are looked at. */
export async function countAll(source: DataSource, page: AnyPage): Promise<{ count: number; looks: number }> {
  const values = new Values();
  const [row] = await source.query<{ count: number; looks: number }[]>(
    `SELECT count(*) FILTER (WHERE fits)::integer AS count, count(*)::integer AS looks FROM (${looked(page, values)}) AS request`,
    values.list,
  );
  return row!;
}

/** A SELECT of `id`, `looks` and `fits` of what is looked at, newest first. */
export function sliceOf(page: AnyPage): { text: string; values: unknown[] } {
  const values = new Values();
  return { text: `SELECT id, looks, fits FROM (${looked(page, values)}) AS request`, values: values.list };
}

function looked({ filter, isFewOpen, maxLooks, ...range }: AnyPage, values: Values): string {
  const rows = sourceOf(filter, rangeOf(range, values), isFewOpen, values);
  return `SELECT request.*, row_number() OVER (ORDER BY request.id DESC) AS looks, (${conditionsOf(filter, values)}) IS TRUE AS fits
    FROM (${rows} LIMIT ${values.bind(maxLooks, 'integer')}) AS request`;
}
