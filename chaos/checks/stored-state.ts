import { idTimeMs } from '../../src/database/days.js';
import type { Service } from '../cluster/cluster.js';
import type { SteppedClock } from '../cluster/stepped-clock.js';
import type { Step } from '../model/behaviour.js';

export interface AttemptRow {
  attempt: number;
  outcome: string;
  code: string | null;
  /** On the clock of `now`. */
  startedAt: number;
  endedAt: number;
  /** The name of the worker that had the lease; null: a node had it. */
  worker: string | null;
}

export interface EventRow {
  kind: string;
  attempt: number;
  /** To be compared with other times of the row; the time of a log line is from its run. */
  at: number;
  /** `LEVEL source message`; null: it is no log entry. */
  text: string | null;
}

/** All data that the database has of one request. */
export interface RequestRow {
  id: string;
  modelId: string;
  keyId: string;
  marker: string;
  plan: Step[] | null;
  webhookUrl: string | null;
  state: string;
  outcome: string | null;
  completedAt: number | null;
  attempt: number;
  failed: number;
  lost: number;
  code: string | null;
  output: unknown;
  attempts: AttemptRow[];
  events: EventRow[];
}

export interface StoredState {
  requests: Map<string, RequestRow>;
  idempotencyKeys: { key: string; id: string }[];
  /** Rows left in the tables of waiting and running requests. */
  left: { queue_entry: number; delayed_entry: number; lease: number };
  /** The time of the database, and the beginning of its first day, in milliseconds since 1970. */
  nowMs: number;
  firstDayMs: number;
}

/** True: the request is of a day that is over for longer than the retention, so that its partition was dropped. */
export const isDropped = (id: string, { firstDayMs }: StoredState): boolean => idTimeMs(id) < firstDayMs;

export async function readStoredState({
  postgres,
  databaseClock,
}: Pick<Service, 'postgres' | 'databaseClock'>): Promise<StoredState> {
  const rows = await postgres.query<RequestRow>(
    `SELECT r.id, r.model_id AS "modelId", r.api_key_id AS "keyId", r.input->>'marker' AS marker, r.input->'plan' AS plan,
            r.webhook_url AS "webhookUrl", r.state, r.outcome, r.attempt,
            extract(epoch FROM r.completed_at)::float8 * 1000 AS "completedAt",
            r.failed_attempts AS failed, r.lost_attempts AS lost, r.error->>'code' AS code, r.output,
            coalesce(a.attempts, '[]') AS attempts, coalesce(e.events, '[]') AS events
     FROM request r
     LEFT JOIN (
       SELECT request_id, json_agg(json_build_object('attempt', attempt, 'outcome', outcome,
                'code', error_code, 'worker', worker.name,
                'startedAt', extract(epoch FROM started_at) * 1000 - $1::float8,
                'endedAt', extract(epoch FROM ended_at) * 1000 - $1::float8) ORDER BY attempt) AS attempts
       FROM attempt LEFT JOIN worker ON worker.uid = worker_id GROUP BY request_id
     ) a ON a.request_id = r.id
     LEFT JOIN (
       SELECT request_id, json_agg(json_build_object('kind', kind, 'attempt', attempt,
                'at', extract(epoch FROM at) * 1000,
                'text', level || ' ' || source || ' ' || message) ORDER BY id) AS events
       FROM request_event GROUP BY request_id
     ) e ON e.request_id = r.id`,
    [performance.timeOrigin],
  );
  if (databaseClock !== undefined) for (const row of rows) setRunTimes(row, databaseClock);
  const [left] = await postgres.query<StoredState['left']>(
    `SELECT (SELECT count(*)::integer FROM queue_entry) AS queue_entry,
            (SELECT count(*)::integer FROM delayed_entry) AS delayed_entry,
            (SELECT count(*)::integer FROM lease) AS lease`,
  );
  const [times] = await postgres.query<Pick<StoredState, 'nowMs' | 'firstDayMs'>>(
    `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS "nowMs",
            extract(epoch FROM min(to_date(right(relname, 8), 'YYYYMMDD')))::float8 * 1000 AS "firstDayMs"
     FROM pg_class WHERE relname ~ '^request_[0-9]{8}$' AND relkind = 'r'`,
  );
  return {
    requests: new Map(rows.map((row) => [row.id, row])),
    idempotencyKeys: await postgres.query('SELECT key, request_id AS id FROM idempotency_key'),
    left: left!,
    ...times!,
  };
}

/** Replaces the times of a database whose clock was stepped. */
function setRunTimes(row: RequestRow, clock: SteppedClock): void {
  const { timeOrigin } = performance;
  for (const attempt of row.attempts) {
    attempt.startedAt = clock.toRunTime(attempt.startedAt);
    attempt.endedAt = clock.toRunTime(attempt.endedAt);
  }
  for (const event of row.events) event.at = clock.toRunTime(event.at - timeOrigin);
  if (row.completedAt !== null) row.completedAt = clock.toRunTime(row.completedAt - timeOrigin);
}

/** Returns what the model was asked to do in that attempt. `attempt` is the number that the model gets. */
export function stepOf({ plan }: RequestRow, attempt: number): Step | undefined {
  return plan?.[Math.min(attempt, plan.length) - 1];
}

/**
 * The attempt's number as the model gets it. Attempts that were handed back, or never reached the model, do not count.
 */
export function countedAttempt({ attempts }: RequestRow, index = attempts.length - 1): number {
  const counted = ['failed', 'timed_out', 'lost'];
  return 1 + attempts.slice(0, index).filter(({ outcome }) => counted.includes(outcome)).length;
}
