import { type Queries, type Statement, statement } from '../../../database/statement.js';
import { insertEntries, ofRequest } from '../../waiting/queries/insert-entries.js';
import { insertMany, type Submission, withBound } from './submission.js';

export interface Submitted {
  id: string;
  seq: number;
}

const ofNew = { ...ofRequest, attempt: undefined, bounded_key_id: undefined };

/** Adds the `written` requests to their queues, or schedules them. */
const wait = `added AS (
  ${insertEntries('queue_entry', 'written', ofNew)}
  WHERE not_before IS NULL
), scheduled AS (
  ${insertEntries('delayed_entry', 'written', { ...ofNew, ready_at: 'not_before', is_scheduled: 'true' })}
  WHERE not_before IS NOT NULL
)`;
/**
 * The same for requests of which some are of keys with a bound, by the condition `isBounded`. Those are held first,
 * so that the queue holds only requests that may run.
 */
export const waitOrBeHeld = (isBounded: string): string => `added AS (
  ${insertEntries('queue_entry', 'written', ofNew)}
  WHERE not_before IS NULL AND (${isBounded}) IS NOT TRUE
), held AS (
  ${insertEntries('delayed_entry', 'written', {
    ...ofNew,
    bounded_key_id: 'CASE WHEN not_before IS NULL THEN api_key_id END',
    ready_at: `coalesce(not_before, 'infinity')`,
    is_scheduled: 'not_before IS NOT NULL',
  })}
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
