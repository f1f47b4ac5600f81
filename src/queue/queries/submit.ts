import { type Queries, type Statement, statement } from '../../database/statement.js';
import { insertMany, type Submission, withBound } from './submission.js';

export interface Submitted {
  id: string;
  seq: number;
}

const entry = 'model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at';
const ofWritten = 'model_id, priority, virtual_start, seq, id, api_key_id, expires_at';

/** Adds the `written` requests to their queues, or schedules them. */
const wait = `added AS (
  INSERT INTO queue_entry (${entry})
  SELECT ${ofWritten} FROM written WHERE not_before IS NULL
), scheduled AS (
  INSERT INTO delayed_entry (${entry}, ready_at, is_scheduled)
  SELECT ${ofWritten}, not_before, true FROM written
  WHERE not_before IS NOT NULL
)`;

/**
 * The same for requests of which some are of keys with a bound, by the condition `isBounded`. Those are parked first,
 * so that the queue holds only requests that may run.
 */
export const waitOrPark = (isBounded: string): string => `added AS (
  INSERT INTO queue_entry (${entry})
  SELECT ${ofWritten} FROM written
  WHERE not_before IS NULL AND (${isBounded}) IS NOT TRUE
), parked AS (
  INSERT INTO delayed_entry (${entry}, bounded_key_id, ready_at, is_scheduled)
  SELECT ${ofWritten}, CASE WHEN not_before IS NULL THEN api_key_id END, coalesce(not_before, 'infinity'),
         not_before IS NOT NULL
  FROM written
  WHERE not_before IS NOT NULL OR (${isBounded}) IS TRUE
)`;

/*
 * Purpose: writes requests and their queue entries, or their delayed entries until their time, in one statement and
 *   one commit.
 * Race: none that loses anything. Row and queue entry appear together. Two submits that overlap draw their seqs and
 *   commit in either order, so a claim's floor is only a hint.
 * Index: inserts into request_pkey (today's partition), queue_entry_pkey, and the index by expires_at of those that
 *   have one.
 */
export const submitStatement = (name: string, insert: string, waiting = wait, before = ''): Statement =>
  statement(name)`
WITH ${before}written AS (
  ${insert}
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq, expires_at, not_before
), ${waiting}
SELECT id, seq FROM written`;

const submitPlain = submitStatement('submit', insertMany());

/** Submits requests without idempotency keys, of API keys without a bound. */
export async function submit(database: Queries, items: readonly Submission[]): Promise<Submitted[]> {
  const rows = await withBound(items, (values) => database.query<Submitted>(submitPlain, values));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => byId.get(id)!);
}
