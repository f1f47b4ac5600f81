import { jsonArray, uuidArray } from '../../../database/binary-array.js';
import type { Database } from '../../../database/database.js';
import { type Statement, statement } from '../../../database/statement.js';
import { storableJson } from '../../../tools/storable-text.js';
import type { RequestError } from '../../request-errors.js';
import type { AttemptOutcome } from '../../request-state.js';
import { complete } from '../../completion/completion.js';
import { tokenHash } from '../../workers/queries/worker-leases.js';
import { runMs } from './run-ms.js';

export interface Finish {
  requestId: string;
  token: string;
  attemptOutcome: Exclude<AttemptOutcome, 'returned' | 'lost' | 'unreached'>;
  /** JSON text of a success, or its bytes. */
  output: string | Buffer | null;
  error: RequestError | null;
  /** The failure message of the attempt; undefined: the same as the request's. */
  runMessage?: string;
  /** Shown among the logs, unless the log is full. */
  message: string | null;
}

/** `ids`: only if not all have ended. */
type Ended = { count: number; ids: string[] | null };

const inferenceMs = runMs('released');
const whichEnded = `SELECT count(*) AS count, CASE WHEN count(*) < cardinality($1::uuid[]) THEN array_agg(id) END AS ids
FROM completed`;

/** The runner of a run, as the attempt records it. An end that a worker reports again is known by its token's hash. */
const runners = {
  node: { suffix: '', held: '', of: { node_id: 'lease.node_id' } },
  worker: {
    suffix: '_of_worker',
    held: `
    AND (done.attempt_outcome IN ('succeeded', 'cancelled') OR lease.cancel_requested_at IS NULL)`,
    of: { worker_id: 'lease.worker_id', token_hash: tokenHash('lease') },
  },
} as const;

export type RunBy = keyof typeof runners;

/*
 * Purpose: ends runs for good: deletes the lease, writes the attempt, completes the request.
 * Race: a run whose lease was taken away finds no row with its token and changes nothing. Of two finishes, the second
 *   waits for the first's DELETE and then finds nothing. `complete` guards what was completed already. A failure that
 *   a worker reports gives way to a cancel, which the worker may not know of.
 * Index: lease_pkey, request_pkey. Each CTE returns what the next ones need: a join of two CTEs of a batch has no
 *   index, so the cost of a batch would grow with its square. Unused columns are not returned.
 */
const finishAny = (by: RunBy): Statement => {
  const { suffix, held, of } = runners[by];
  const columns = Object.keys(of);
  return statement(`finish${suffix}`)`WITH released AS (
  DELETE FROM lease
  USING unnest($1::uuid[], $2::uuid[], $3::json[], $4::text[], $5::json[], $6::text[], $7::text[], $8::text[])
    AS done (request_id, token, output, attempt_outcome, error, error_code, error_message, message)
  WHERE lease.request_id = done.request_id AND lease.token = done.token${held}
  RETURNING done.*, ${selected(of)}, lease.usage, lease.started_at, clock_timestamp() AS ended_at
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
      usage: 'released.usage',
    },
    returning: [...ofRun(columns), ...ofFailure.map((column) => `released.${column}`)],
    message: 'message',
  })}, recorded AS (
  INSERT INTO attempt (request_id, attempt, ${columns.join(', ')}, started_at, ended_at, usage, outcome, error_code, error_message)
  SELECT id, attempt, ${columns.join(', ')}, started_at, ended_at, usage, ${ofFailure.join(', ')}
  FROM completed
)
${whichEnded}`;
};

/** The same for successes only: most batches hold nothing else, and each array and each column costs time. */
const finishSuccesses = (by: RunBy): Statement => {
  const { suffix, of } = runners[by];
  const columns = Object.keys(of);
  return statement(`finish_successes${suffix}`)`WITH released AS (
  DELETE FROM lease
  USING unnest($1::uuid[], $2::uuid[], $3::json[]) AS done (request_id, token, output)
  WHERE lease.request_id = done.request_id AND lease.token = done.token
  RETURNING done.request_id, done.output, ${selected(of)}, lease.usage, lease.started_at, clock_timestamp() AS ended_at
), ${complete({
    verb: 'finish',
    of: 'released',
    set: {
      outcome: `'succeeded'`,
      output: 'released.output',
      completed_at: 'released.ended_at',
      inference_ms: inferenceMs,
      usage: 'released.usage',
    },
    returning: ofRun(columns),
  })}, recorded AS (
  INSERT INTO attempt (request_id, attempt, ${columns.join(', ')}, started_at, ended_at, usage, outcome)
  SELECT id, attempt, ${columns.join(', ')}, started_at, ended_at, usage, 'succeeded' FROM completed
)
${whichEnded}`;
};

const ofFailure = ['attempt_outcome', 'error_code', 'error_message'];
const ofRun = (columns: readonly string[]): string[] =>
  [...columns, 'started_at', 'ended_at', 'usage'].map((column) => `released.${column}`);
const selected = (of: object): string =>
  Object.entries(of)
    .map(([column, value]) => `${String(value)} AS ${column}`)
    .join(', ');

const any = { node: finishAny('node'), worker: finishAny('worker') };
const successes = { node: finishSuccesses('node'), worker: finishSuccesses('worker') };

/** Returns for each item whether its run still held the lease, and so ended the request. */
export async function finish(database: Database, items: Finish[], by: RunBy = 'node'): Promise<boolean[]> {
  const runs = [
    uuidArray(items.map(({ requestId }) => requestId)),
    uuidArray(items.map(({ token }) => token)),
    jsonArray(items.map(({ output }) => (typeof output === 'string' ? storableJson(output) : output))),
  ];
  const [ended] = items.every(({ attemptOutcome: how, message }) => how === 'succeeded' && message === null)
    ? await database.query<Ended>(successes[by], runs)
    : await database.query<Ended>(any[by], [
        ...runs,
        items.map(({ attemptOutcome }) => attemptOutcome),
        items.map(({ error }) => error && storableJson(JSON.stringify(error))),
        items.map(({ error }) => error?.code ?? null),
        items.map(({ error, runMessage }) => runMessage ?? error?.message ?? null),
        items.map(({ message }) => message),
      ]);
  const { count, ids } = ended!;
  if (count === items.length) return items.map(() => true);
  const finished = new Set(ids);
  return items.map(({ requestId }) => finished.has(requestId));
}
