import { jsonArray, uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';
import type { RequestError } from '../request-errors.js';
import type { AttemptOutcome } from '../request-state.js';
import { complete } from '../completion.js';

export interface Finish {
  requestId: string;
  token: string;
  attemptOutcome: Exclude<AttemptOutcome, 'returned' | 'lost' | 'unreached'>;
  /** JSON text of a success. */
  output: string | null;
  error: RequestError | null;
  /** Shown among the logs, unless the log is full. */
  message: string | null;
}

/** `ids`: only if not all have ended. */
type Ended = { count: number; ids: string[] | null };

const inferenceMs = 'extract(epoch FROM released.ended_at - released.started_at) * 1000';
const ofRun = ['released.node_id', 'released.started_at', 'released.ended_at'];
const whichEnded = `SELECT count(*) AS count, CASE WHEN count(*) < cardinality($1::uuid[]) THEN array_agg(id) END AS ids
FROM completed`;

/*
 * Purpose: ends runs for good: lease away, attempt written, request completed.
 * Race: a run whose lease was taken away finds no row with its token and changes nothing. Of two finishes the second
 *   waits for the first's DELETE and then finds nothing. What was completed already is guarded by `complete`.
 * Index: lease_pkey, request_pkey. Each CTE returns what the next ones need: a join of two CTEs of a batch has no
 *   index, so the cost of a batch would grow with its square. A column that nobody needs is not returned.
 */
const finishAny = statement('finish')`WITH released AS (
  DELETE FROM lease
  USING unnest($1::uuid[], $2::uuid[], $3::json[], $4::text[], $5::json[], $6::text[], $7::text[], $8::text[])
    AS done (request_id, token, output, attempt_outcome, error, error_code, error_message, message)
  WHERE lease.request_id = done.request_id AND lease.token = done.token
  RETURNING done.*, lease.node_id, lease.started_at, clock_timestamp() AS ended_at
), ${complete({
  verb: 'finish',
  of: 'released',
  set: {
    outcome: `CASE released.attempt_outcome WHEN 'timed_out' THEN 'failed' ELSE released.attempt_outcome END`,
    output: 'released.output',
    error: 'released.error',
    failed_attempts: `failed_attempts + (released.attempt_outcome IN ('failed', 'timed_out'))::integer`,
    completed_at: 'released.ended_at',
    inference_ms: inferenceMs,
  },
  returning: [...ofRun, 'released.attempt_outcome', 'released.error_code', 'released.error_message'],
  message: 'message',
})}, recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome, error_code, error_message)
  SELECT id, attempt, node_id, started_at, ended_at, attempt_outcome, error_code, error_message
  FROM completed
)
${whichEnded}`;

/** The same for successes alone: most batches hold nothing else, and each array and each column costs. */
const finishSuccesses = statement('finish_successes')`WITH released AS (
  DELETE FROM lease
  USING unnest($1::uuid[], $2::uuid[], $3::json[]) AS done (request_id, token, output)
  WHERE lease.request_id = done.request_id AND lease.token = done.token
  RETURNING done.request_id, done.output, lease.node_id, lease.started_at, clock_timestamp() AS ended_at
), ${complete({
  verb: 'finish',
  of: 'released',
  set: {
    outcome: `'succeeded'`,
    output: 'released.output',
    completed_at: 'released.ended_at',
    inference_ms: inferenceMs,
  },
  returning: ofRun,
})}, recorded AS (
  INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome)
  SELECT id, attempt, node_id, started_at, ended_at, 'succeeded' FROM completed
)
${whichEnded}`;

/** For each item whether its run still held the lease, and so ended the request. */
export async function finish(database: Database, items: Finish[]): Promise<boolean[]> {
  const runs = [
    uuidArray(items.map(({ requestId }) => requestId)),
    uuidArray(items.map(({ token }) => token)),
    jsonArray(items.map(({ output }) => output)),
  ];
  const [ended] = items.every(({ attemptOutcome: how, message }) => how === 'succeeded' && message === null)
    ? await database.query<Ended>(finishSuccesses, runs)
    : await database.query<Ended>(finishAny, [
        ...runs,
        items.map(({ attemptOutcome }) => attemptOutcome),
        items.map(({ error }) => (error === null ? null : JSON.stringify(error))),
        items.map(({ error }) => error?.code ?? null),
        items.map(({ error }) => error?.message ?? null),
        items.map(({ message }) => message),
      ]);
  const { count, ids } = ended!;
  if (count === items.length) return items.map(() => true);
  const finished = new Set(ids);
  return items.map(({ requestId }) => finished.has(requestId));
}
