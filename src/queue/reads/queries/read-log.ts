import type { Database } from '../../../database/database.js';
import { statementOfDays } from '../../../database/days.js';
import type { LogEntry } from '../../runs/run-log.js';

/*
 * Purpose: reads the log entries of a request between two events of its stream (`StatusRow.lastEventId`), oldest
 *   first.
 * Race: bounded above by an event id that the caller has seen, so a stream neither skips nor repeats.
 * Index: request_event_pkey.
 */
const readLogStatement = statementOfDays(
  'read_log',
  (within) => `SELECT id, message, level, source, at
FROM request_event
WHERE request_id = $1::uuid AND ${within('request_id')}
  AND id > $2::bigint / 2 AND id <= $3::bigint / 2 AND message IS NOT NULL
ORDER BY id`,
);

/** Returns the entries that the event `upTo` covers and the event `after` does not. */
export function readLog(
  database: Database,
  requestId: string,
  after: number,
  upTo: number,
): Promise<LogEntry[]> {
  return database.query(readLogStatement(requestId), [requestId, after, upTo]);
}
