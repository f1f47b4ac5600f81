import { type Queries, statement } from '../../database/statement.js';
import type { RequestState } from '../../queue/request-state.js';
import type { OperationAction, OperationState } from '../entities/operation.entity.js';

export interface ClaimedOperation {
  id: string;
  action: OperationAction;
  state: OperationState;
  /** The state that the filter asks for. null: any. */
  requestState: RequestState | null;
}

export interface Counts {
  done: number;
  skipped: number;
  failed: number;
}

/** A node that is silent for this long loses its operation to another. */
export const claimLife = '15 seconds';

/*
 * Purpose: claims an operation that no node works on, or renews this node's own claim. Operations never begun come first,
 *   then the one whose last turn is the longest ago.
 * Race: SKIP LOCKED and the claim's expiry give it to one node. Each of its steps checks that it still has the claim.
 * Index: operation_open; there are few rows.
 */
const claimStatement = statement('claim_operation')`UPDATE operation
SET claimed_by = $1::uuid, claimed_until = clock_timestamp() + interval '${claimLife}'
WHERE id = (
  SELECT id FROM operation
  WHERE ended_at IS NULL
    AND (claimed_until IS NULL OR claimed_until < clock_timestamp() OR claimed_by = $1::uuid)
  ORDER BY claimed_until NULLS FIRST, id LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING id, action, state, filter ->> 'state' AS "requestState"`;

export async function claimOperation(
  queries: Queries,
  nodeId: string,
): Promise<ClaimedOperation | undefined> {
  return (await queries.query<ClaimedOperation>(claimStatement, [nodeId]))[0];
}

/*
 * Purpose: whether there is anything to claim, now or after a node at work is lost.
 * Race: none (it is checked again).
 * Index: operation_open.
 */
const openStatement = statement('find_open_operation')`SELECT FROM operation WHERE ended_at IS NULL LIMIT 1`;

export async function isAnyOpen(queries: Queries): Promise<boolean> {
  return (await queries.query(openStatement)).length > 0;
}

/*
 * Purpose: begins a step: returns the next members, and the operation's state.
 * Race: the lock on the operation's row excludes a stop, and another node's claim, until the step commits.
 * Index: operation_pkey, operation_member_pkey from the last member on.
 */
const nextStatement = statement('next_members')`WITH own AS MATERIALIZED (
  SELECT state FROM operation WHERE id = $1::uuid AND claimed_by = $2::uuid AND ended_at IS NULL FOR UPDATE
)
SELECT (SELECT state FROM own) AS state,
       ARRAY (
         SELECT request_id FROM operation_member
         WHERE operation_id = $1::uuid AND request_id > $3::uuid AND EXISTS (SELECT FROM own)
         ORDER BY operation_id, request_id LIMIT $4::integer
       ) AS members`;

export interface Step {
  /** null: this node no longer has the operation. */
  state: OperationState | null;
  members: string[];
}

export async function nextMembers(
  queries: Queries,
  step: { id: string; nodeId: string; after: string; max: number },
): Promise<Step> {
  const [row] = await queries.query<Step>(nextStatement, [step.id, step.nodeId, step.after, step.max]);
  return row!;
}

/*
 * Purpose: ends a step in the commit of its changes: deletes the members that were processed, and counts them.
 * Race: under the lock of next_members.
 * Index: operation_member_pkey, operation_pkey.
 */
const accountStatement = statement('account_members')`WITH dealt AS (
  DELETE FROM operation_member
  WHERE operation_id = $1::uuid AND request_id = ANY ($2::uuid[])
)
UPDATE operation
SET done = done + $3::integer, skipped = skipped + $4::integer, failed = failed + $5::integer,
    last_error = coalesce($6::text, last_error),
    claimed_until = clock_timestamp() + interval '${claimLife}'
WHERE id = $1::uuid`;

export async function account(
  queries: Queries,
  id: string,
  dealt: readonly string[],
  { done, skipped, failed, lastError = null }: Counts & { lastError?: string | null },
): Promise<void> {
  await queries.query(accountStatement, [id, dealt, done, skipped, failed, lastError]);
}

/*
 * Purpose: ends an operation that has no members left or was stopped. Deletes its remaining members.
 * Index: operation_pkey; the remaining members, once.
 */
const endStatement = statement('end_operation')`WITH ended AS (
  UPDATE operation SET state = $2, ended_at = clock_timestamp(), claimed_by = NULL, claimed_until = NULL
  WHERE id = $1::uuid AND ended_at IS NULL
  RETURNING id
)
DELETE FROM operation_member WHERE operation_id IN (SELECT id FROM ended)`;

export async function end(queries: Queries, id: string, state: 'stopped' | 'done'): Promise<void> {
  await queries.query(endStatement, [id, state]);
}
