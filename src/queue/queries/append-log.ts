import type { Database, Statement } from '../../database/database.js';
import type { LogLevel, LogSource } from '../runner.js';

export interface LogLine {
  requestId: string;
  token: string;
  level: LogLevel;
  source: LogSource;
  message: string;
  /** Milliseconds since 1970, by the database's clock. */
  atMs: number;
}

/*
 * Purpose: appends log lines of runs that hold their lease.
 * Race: FOR KEY SHARE keeps the lease from being deleted before this commits, so no line can follow the
 *   event that completed the request, and a run without its lease writes nothing. The ids are drawn after
 *   the lock, in the order of the lines.
 * Index: lease_pkey.
 */
const appendStatement: Statement = {
  name: 'append_log',
  text: `WITH line AS (
  SELECT *
  FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::float8[])
    WITH ORDINALITY AS line (request_id, token, level, source, message, at_ms, position)
), held AS MATERIALIZED (
  SELECT lease.request_id, lease.token, lease.attempt
  FROM lease
  WHERE (request_id, token) IN (SELECT request_id, token FROM line)
  FOR KEY SHARE
)
INSERT INTO request_event (request_id, at, kind, attempt, level, source, message)
SELECT line.request_id, to_timestamp(line.at_ms / 1000), 'log', held.attempt, line.level, line.source, line.message
FROM line
JOIN held USING (request_id, token)
ORDER BY line.position`,
};

export async function appendLog(database: Database, lines: LogLine[]): Promise<void> {
  await database.query(appendStatement, [
    lines.map(({ requestId }) => requestId),
    lines.map(({ token }) => token),
    lines.map(({ level }) => level),
    lines.map(({ source }) => source),
    lines.map(({ message }) => message),
    lines.map(({ atMs }) => atMs),
  ]);
}
