import type { Database } from '../../../database/database.js';
import { type DaySpan, statementOfSpan } from '../../../database/days.js';
import { parameters, statement } from '../../../database/statement.js';
import type { RequestFilter } from '../request-filter.js';
import type { StatusRow } from '../status-row.js';
import { statusColumns } from './read-status.js';

const filterTypes = {
  modelId: 'text',
  state: 'text',
  outcome: 'text',
  tags: 'text[]',
  createdAfterMs: 'float8',
  createdBeforeMs: 'float8',
} as const satisfies Record<keyof RequestFilter, string>;

/** Returns the condition that a row of `request` matches the filter. */
const fits = (
  $: Record<keyof RequestFilter, string>,
): string => `(${$.modelId} IS NULL OR model_id = ${$.modelId})
    AND (${$.state} IS NULL OR state = ${$.state})
    AND (${$.outcome} IS NULL OR outcome = ${$.outcome})
    AND (${$.tags} IS NULL OR tags @> ${$.tags})
    AND (${$.createdAfterMs} IS NULL OR created_at >= to_timestamp(${$.createdAfterMs} / 1000))
    AND (${$.createdBeforeMs} IS NULL OR created_at < to_timestamp(${$.createdBeforeMs} / 1000))`;

export interface Page {
  keyId: string;
  filter: RequestFilter;
  /** Ids in [firstId, beforeId). */
  firstId: string;
  beforeId: string;
  max: number;
  /** The most rows that are read. */
  maxLooks: number;
}

/** `fits`: false for the last row that was read if it does not belong in the list. */
export type Listed = StatusRow & { looks: number; fits: boolean };

/*
 * Purpose: reads a page of a key's requests, newest first. The work is bounded by the rows that are read.
 * Race: none (read only). Ids only grow, so requests that arrive meanwhile are on no later page.
 * Index: request_by_key, backwards, in each day of the span at once. The key is no constant to the planner, and
 *   stands in the order. The primary key has no such order, so it is not scanned when statistics show a day as empty.
 */
const { placeholders: $, bind } = parameters({
  ...filterTypes,
  keyId: 'uuid',
  firstId: 'uuid',
  beforeId: 'uuid',
  max: 'integer',
  maxLooks: 'integer',
});
const listStatement = statementOfSpan(
  'list_requests',
  (within) => `SELECT ${statusColumns(within)}, looks, fits
FROM (
  SELECT request.*, row_number() OVER (ORDER BY api_key_id DESC, id DESC) AS looks,
    ${fits($)} AS fits
  FROM request
  WHERE api_key_id BETWEEN ${$.keyId} AND ${$.keyId}
    AND (api_key_id, id) >= (${$.keyId}, ${$.firstId}) AND (api_key_id, id) < (${$.keyId}, ${$.beforeId})
    AND id >= ${$.firstId} AND id < ${$.beforeId}
    AND ${within('id')}
  ORDER BY api_key_id DESC, id DESC LIMIT ${$.maxLooks}
) AS request
WHERE fits OR looks = ${$.maxLooks}
LIMIT ${$.max}`,
);

export function listRequests(
  database: Database,
  span: DaySpan,
  { filter, ...page }: Page,
): Promise<Listed[]> {
  return database.query<Listed>(listStatement(span), bind({ ...noFilter, ...filter, ...page }));
}

const noFilter: Record<keyof RequestFilter, unknown> = {
  modelId: null,
  state: null,
  outcome: null,
  tags: null,
  createdAfterMs: null,
  createdBeforeMs: null,
};

/*
 * Purpose: reads a key's requests that wait or run and match a filter, those that would start first in front.
 * Race: requests may start or end meanwhile; the statements that use the ids deal with that.
 * Index: queue_entry_pkey, delayed_entry_pkey and lease_pkey are scanned. They are as long as what waits and runs,
 *   and an index by the key would cost every submission. Then request_pkey: LATERAL keeps the planner from
 *   request_by_key.
 */
const { placeholders: open$, bind: bindOpen } = parameters({ ...filterTypes, keyId: 'uuid', max: 'integer' });
const openStatement = statement('open_requests')`WITH open AS (
  SELECT request_id FROM queue_entry WHERE api_key_id = ${open$.keyId}
  UNION ALL
  SELECT request_id FROM delayed_entry WHERE api_key_id = ${open$.keyId}
  UNION ALL
  SELECT request_id FROM lease
)
SELECT own.id
FROM open
CROSS JOIN LATERAL (SELECT * FROM recent_request AS request WHERE request.id = open.request_id LIMIT 1) AS own
WHERE api_key_id = ${open$.keyId}
    AND ${fits(open$)}
LIMIT ${open$.max}`;

export async function openRequests(
  database: Database,
  keyId: string,
  filter: RequestFilter,
  max: number,
): Promise<string[]> {
  const values = bindOpen({ ...noFilter, ...filter, keyId, max });
  const rows = await database.query<{ id: string }>(openStatement, values);
  return rows.map(({ id }) => id);
}
