import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { LogLevel, LogSource } from '../runs/runner.js';

export interface LogLine {
  requestId: string;
  token: string;
  /** 1 for the first line of the run. */
  number: number;
  level: LogLevel;
  source: LogSource;
  message: string;
  /** Milliseconds since 1970, by the database's clock. */
  atMs: number;
}

/*
 * Purpose: appends log lines of runs that hold their lease.
 * Race: the lease's row lock keeps it from being deleted before this commits, so no line can follow the event that
 *   completed the request, and a run without its lease writes nothing. A write whose answer was lost is sent again: it
 *   waits for the first, and finds on the lease that its lines are there. Ids are drawn after the lock, in line order.
 * Index: lease_pkey. The update of the lease is HOT.
 */
const appendStatement = statement('append_log')`WITH line AS MATERIALIZED (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::float8[])
    AS line (request_id, token, number, level, source, message, at_ms)
), held AS MATERIALIZED (
  SELECT lease.request_id, lease.token, lease.attempt, lease.log_lines
  FROM lease
  WHERE (request_id, token) IN (SELECT request_id, token FROM line)
  ORDER BY request_id FOR NO KEY UPDATE
), counted AS (
  UPDATE lease
  SET log_lines = greatest(held.log_lines, (SELECT max(number) FROM line WHERE line.request_id = held.request_id))
  FROM held
  WHERE lease.request_id = held.request_id
)
INSERT INTO request_event (request_id, at, kind, attempt, level, source, message)
SELECT line.request_id, to_timestamp(line.at_ms / 1000), 'log', held.attempt, line.level, line.source, line.message
FROM line
JOIN held USING (request_id, token)
WHERE line.number > held.log_lines
ORDER BY line.request_id, line.number`;

const fields = ['requestId', 'token', 'number', 'level', 'source', 'message', 'atMs'] as const;

export async function appendLog(database: Database, lines: LogLine[]): Promise<void> {
  const values = fields.map((field) => lines.map((line) => line[field]));
  await database.query(appendStatement, values);
}
