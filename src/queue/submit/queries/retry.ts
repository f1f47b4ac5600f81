import { statementOfDays } from '../../../database/days.js';
import { parameters, type Queries } from '../../../database/statement.js';
import type { TraceContext } from '../../../tracing/trace-context.js';
import { insertCopy } from './submission.js';
import { findKnown, type Idempotency, type Known, reserved } from './submit-once.js';
import { type Submitted, waitOrBeHeld } from './submit.js';

export interface Retry {
  /** The id of the new request. */
  id: string;
  originalId: string;
  /** The limits of the model and the key now; null: there is none. */
  maxExpiresMs: number | null;
  maxTimeoutMs: number;
  priority: number;
  virtualStart: number;
  /** True: the API key has a bound. */
  isBounded: boolean;
  /** undefined: the original's trace. */
  trace?: TraceContext | undefined;
  idempotency?: Idempotency | undefined;
}

/*
 * Purpose: submits a completed request again, with its input and options, unless its idempotency key is taken.
 * Race: against an erasure: FOR UPDATE waits for it and then finds no input. An input that was read before belongs to
 *   the new request. Of two with one idempotency key, the second waits for the first, as in submit_once; the
 *   original's row is locked before the key.
 * Index: request_pkey, in the partition of the original's day, file_use_pkey; the rest is as in submit and
 *   submit_once.
 */
const { placeholders: $, bind } = parameters({
  id: 'uuid',
  originalId: 'uuid',
  maxExpiresMs: 'float8',
  maxTimeoutMs: 'integer',
  priority: 'smallint',
  virtualStart: 'bigint',
  isBounded: 'boolean',
  traceparent: 'text',
  tracestate: 'text',
  idempotencyKey: 'text',
  fingerprint: 'bytea',
});
const retryStatement = statementOfDays(
  'retry',
  (within) => `WITH original AS MATERIALIZED (
  SELECT * FROM request
  WHERE id = ${$.originalId} AND ${within('id')} AND state = 'COMPLETED' AND input IS NOT NULL FOR UPDATE
), ${reserved(`SELECT api_key_id, ${$.idempotencyKey}, ${$.id}, ${$.fingerprint}
  FROM original
  WHERE ${$.idempotencyKey} IS NOT NULL`)}written AS (
  ${insertCopy(
    'original',
    {
      id: $.id,
      priority: $.priority,
      virtual_start: $.virtualStart,
      expires_at: `now() + least(
           original.expires_at - coalesce(original.not_before, original.created_at),
           ${$.maxExpiresMs} * interval '1 millisecond'
         )`,
      timeout_ms: `CASE WHEN original.timeout_ms IS NOT NULL THEN least(original.timeout_ms, ${$.maxTimeoutMs}) END`,
      not_before: 'NULL',
      retry_of: 'original.id',
      traceparent: `coalesce(${$.traceparent}, original.traceparent)`,
      tracestate: `CASE WHEN ${$.traceparent} IS NULL THEN original.tracestate ELSE ${$.tracestate} END`,
    },
    `WHERE ${$.idempotencyKey} IS NULL OR EXISTS (SELECT FROM reserved)`,
  )}
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq, expires_at, not_before
), marked AS (
  UPDATE request SET retried_as = ${$.id}
  WHERE id = ${$.originalId} AND ${within('id')} AND EXISTS (SELECT FROM written)
), files AS (
  INSERT INTO file_use (request_id, file_id, in_input)
  SELECT written.id, file_id, true
  FROM written JOIN file_use ON request_id = ${$.originalId} AND in_input
), ${waitOrBeHeld($.isBounded)}
SELECT written.id, written.seq
FROM original LEFT JOIN written ON true`,
);

/** undefined: its input is deleted. */
export async function retry(
  database: Queries,
  keyId: string,
  { idempotency, trace, ...item }: Retry,
): Promise<Submitted | Known | undefined> {
  const { key = null, fingerprint = null } = idempotency ?? {};
  const { traceparent = null, tracestate = null } = trace ?? ({} as Partial<TraceContext>);
  for (;;) {
    const [row] = await database.query<Submitted | Record<keyof Submitted, null>>(
      retryStatement(item.originalId),
      bind({ ...item, idempotencyKey: key, fingerprint, traceparent, tracestate }),
    );
    if (row !== undefined && row.id !== null) return row;
    const known = idempotency && (await findKnown(database, keyId, idempotency.key));
    // The key was pruned between the two statements, so it is free now.
    if (known !== undefined || row === undefined) return known;
  }
}
