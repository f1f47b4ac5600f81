import { epochMs } from '../../../database/epoch-ms.js';
import { forStatements, statementOfDays, type Within } from '../../../database/days.js';
import type { Queries } from '../../../database/statement.js';
import { requestColumns } from '../request-columns.js';
import type { StatusRow } from '../status-row.js';
import { daysWithTables } from './days-with-tables.js';

/** A list with more groups of days has ids that callers invented, or those of more than a year. */
const maxGroups = 16;

/** Columns of the table `request`, or of a subquery of that name. `within`: of a statement of days. */
export const statusColumns = (within: Within = () => 'true'): string => `${requestColumns},
       CASE WHEN state = 'IN_QUEUE' AND (attempt > 0 OR not_before IS NOT NULL) THEN (
         SELECT ${epochMs('entry.ready_at')} FROM delayed_entry AS entry
         WHERE (entry.model_id, entry.priority, entry.virtual_start, entry.seq)
           = (request.model_id, request.priority, request.virtual_start, request.seq)
           AND entry.ready_at < 'infinity'
       ) END AS "delayedUntilMs",
       CASE WHEN state = 'IN_PROGRESS' THEN (
         SELECT json_build_object('value', lease.progress_value, 'message', lease.progress_message)
         FROM lease WHERE lease.request_id = request.id AND lease.progress_value IS NOT NULL
       ) END AS progress,
       CASE WHEN state = 'COMPLETED' THEN floor(extract(epoch FROM completed_at) * 1000)::bigint
            ELSE coalesce((
                   SELECT max(event.id) * 2 FROM request_event AS event
                   WHERE event.request_id = request.id AND ${within('event.request_id')}
                 ), 0)
                 + (state = 'IN_PROGRESS')::integer
       END AS "lastEventId"`;

/*
 * Purpose: reads what status, stream and access checks need, for one caller or for many at once.
 * Race: the row and the newest event id come from one snapshot, so a stream never announces a state without its
 *   events.
 * Index: request_pkey and request_event_pkey; lease_pkey for running requests; all in the days of the ids.
 */
const readOne = statementOfDays(
  'read_status_one',
  (within) => `SELECT ${statusColumns(within)} FROM request
WHERE id = $1::uuid AND ${within('id')}`,
);

const readMany = statementOfDays(
  'read_status_many',
  (within) => `SELECT ${statusColumns(within)} FROM unnest($1::uuid[]) AS wanted (id)
JOIN request ON request.id = wanted.id AND ${within('request.id')}`,
);

/** Returns one result per id; undefined: there is no such request. */
export async function readStatus(database: Queries, ids: string[]): Promise<(StatusRow | undefined)[]> {
  if (ids.length === 1) return [(await database.query<StatusRow>(readOne(...ids), ids))[0]];
  const groups = await groupsOf(database, [...new Set(ids)]);
  const rows = await Promise.all(groups.map((some) => database.query<StatusRow>(readMany(...some), [some])));
  const byId = new Map(rows.flat().map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id));
}

/** Groups ids for the statements. Of a list with many days, those without tables are left out: no request has them. */
async function groupsOf(database: Queries, ids: readonly string[]): Promise<string[][]> {
  const groups = forStatements(ids);
  if (groups.length <= maxGroups) return groups;
  const { firstId, endId } = await daysWithTables(database);
  return forStatements(ids.filter((id) => firstId <= id && id < endId));
}
