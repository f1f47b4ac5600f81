import type { DataSource } from 'typeorm';
import { withinSpan } from '../../../database/days.js';
import type { Outcome, RequestState } from '../../request-state.js';
import { Values } from './request-conditions.js';

/** Selects requests to export. Undefined fields do not matter. */
export interface ExportFilter {
  /** The ids of keys. */
  keyIds?: readonly string[] | undefined;
  /** A model id, or `acme/*` for all under `acme/`. */
  model?: string | undefined;
}

/** A request with its payloads, which are JSON as it was received. Times are ISO 8601 in UTC. */
export interface ExportRow {
  id: string;
  modelId: string;
  keyId: string;
  keyName: string | null;
  state: RequestState;
  outcome: Outcome | null;
  priority: number;
  tags: string[] | null;
  adapter: string | null;
  createdAt: string;
  notBefore: string | null;
  startedAt: string | null;
  completedAt: string | null;
  erasedAt: string | null;
  retryOf: string | null;
  retriedAs: string | null;
  usage: string | null;
  attempts: string;
  input: string | null;
  output: string | null;
  error: string | null;
}

export interface ExportPage {
  filter: ExportFilter;
  day: number;
  /** Ids of the day behind `afterId` and before `beforeId`. */
  afterId: string;
  beforeId: string;
  maxRows: number;
  /** The bytes of payloads after which no further request is read. */
  maxBytes: number;
}

const utc = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

const bytesOf = (column: string): string => `coalesce(octet_length(${column}::text), 0)`;

/*
 * Purpose: reads the next requests of a day in the order of their ids, with payloads and attempts. It reads at least
 *   one, and no more of them than fit the bytes, so that an export needs little memory whatever the payloads are.
 * Race: none (read only). A request is as it is at the time of its page.
 * Index: the primary keys of the day's request and attempt. The days are literals, so that it locks these only.
 */
export function exportRequests(
  source: DataSource,
  { filter, day, afterId, beforeId, maxRows, maxBytes }: ExportPage,
): Promise<ExportRow[]> {
  const values = new Values();
  const within = withinSpan({ firstDay: day, lastDay: day });
  const conditions = [
    `id > ${values.bind(afterId, 'uuid')}`,
    `id < ${values.bind(beforeId, 'uuid')}`,
    within('id'),
    ...(filter.keyIds === undefined ? [] : [`api_key_id = ANY (${values.bind(filter.keyIds, 'uuid[]')})`]),
    ...(filter.model === undefined ? [] : [isModel(filter.model, values)]),
  ];
  const text = `WITH found AS (
  SELECT id, ${['input', 'output', 'error'].map(bytesOf).join(' + ')} AS bytes
  FROM request
  WHERE ${conditions.join(' AND ')}
  ORDER BY id LIMIT ${values.bind(maxRows, 'integer')}
), page AS (
  SELECT id, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
  FROM found
)
SELECT request.id, model_id AS "modelId", api_key_id AS "keyId", api_key.name AS "keyName", state, outcome, priority,
       tags, adapter, ${utc('request.created_at')} AS "createdAt", ${utc('not_before')} AS "notBefore",
       ${utc('started_at')} AS "startedAt", ${utc('completed_at')} AS "completedAt", ${utc('erased_at')} AS "erasedAt",
       retry_of AS "retryOf", retried_as AS "retriedAs", usage::text AS usage,
       coalesce((SELECT json_agg(json_build_object(
           'attempt', attempt.attempt, 'outcome', attempt.outcome, 'started_at', ${utc('attempt.started_at')},
           'ended_at', ${utc('attempt.ended_at')}, 'error_code', attempt.error_code,
           'error_message', attempt.error_message) ORDER BY attempt.attempt)
         FROM attempt WHERE attempt.request_id = request.id AND ${within('attempt.request_id')})::text, '[]') AS attempts,
       input::text AS input, output::text AS output, error::text AS error
FROM page
JOIN request ON request.id = page.id AND ${within('request.id')}
LEFT JOIN api_key ON api_key.id = api_key_id
WHERE bytes_before < ${values.bind(maxBytes, 'bigint')}
ORDER BY request.id`;
  return source.query<ExportRow[]>(text, values.list);
}

function isModel(model: string, values: Values): string {
  if (!model.endsWith('*')) return `model_id = ${values.bind(model, 'text')}`;
  return `starts_with(model_id, ${values.bind(model.slice(0, -1), 'text')})`;
}
