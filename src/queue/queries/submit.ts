import { type Queries, type Statement, statement } from '../../database/statement.js';
import { insertEntries, ofRequest } from './insert-entries.js';
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
/** The same for a key with a bound: its requests are parked first, so that the queue holds only those that may run. */
const waitHeld = `held AS (
  ${insertEntries('delayed_entry', 'written', {
    ...ofNew,
    bounded_key_id: 'CASE WHEN not_before IS NULL THEN api_key_id END',
    ready_at: `coalesce(not_before, 'infinity')`,
    is_scheduled: 'not_before IS NOT NULL',
  })}
)`;
export const waitWhere = (isHeld: boolean): string => (isHeld ? waitHeld : wait);

/** The statement, and its variant for a key with a bound. */
export type Both = Record<'free' | 'held', Statement>;
export const both = (make: (isHeld: boolean, suffix: string) => Statement): Both => ({
  free: make(false, ''),
  held: make(true, '_held'),
});

/*
 * Purpose: writes requests and their queue entries, or their delayed entries until their time, in one statement and
 *   one commit.
 * Race: none that loses anything. Row and queue entry appear together. Two submits that overlap draw their seqs and
 *   commit in either order, so a claim's floor is only a hint.
 * Index: inserts into request_pkey (today's partition), queue_entry_pkey, and the index by expires_at of those that
 *   have one.
 */
export const submitStatements = (name: string, insert: string, before = ''): Both =>
  both(
    (isHeld, suffix) => statement(name + suffix)`
WITH ${before}written AS (
  ${insert}
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq, expires_at, not_before
), ${waitWhere(isHeld)}
SELECT id, seq FROM written`,
  );

const submitStatement = submitStatements('submit', insertMany());

/** `how`: `held` if all are of keys with a bound. */
export async function submit(
  database: Queries,
  items: readonly Submission[],
  how: keyof Both = 'free',
): Promise<Submitted[]> {
  const rows = await withBound(items, (values) => database.query<Submitted>(submitStatement[how], values));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => byId.get(id)!);
}
