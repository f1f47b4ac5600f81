import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import { valuesOf, type Submission } from './submit.js';

export interface OnceSubmission extends Submission {
  idempotencyKey: string;
  /** SHA-256 of what was asked, to tell a repetition from another request under the same key. */
  fingerprint: Buffer;
}

export type OnceResult =
  | { kind: 'submitted'; seq: number }
  /** The key was used before: `id` is the request it made. */
  | { kind: 'known'; id: string; sameRequest: boolean };

/*
 * Purpose: submits a request together with its idempotency key, in one commit, unless the key is taken.
 * Race: of two submissions with one key the second waits for the first's insert; when that commits, the
 *   second inserts nothing. A key older than 24 h is taken over in place.
 * Index: idempotency_key_pkey; the rest is as in submit.
 */
const submitOnceStatement: Statement = {
  name: 'submit_once',
  text: `WITH reserved AS (
  INSERT INTO idempotency_key AS known (api_key_id, key, request_id, fingerprint)
  VALUES ($3::uuid, $7::text, $1::uuid, $8::bytea)
  ON CONFLICT (api_key_id, key) DO UPDATE
    SET request_id = excluded.request_id, fingerprint = excluded.fingerprint, created_at = now()
    WHERE known.created_at < now() - interval '24 hours'
  RETURNING request_id
), written AS (
  INSERT INTO request (id, model_id, api_key_id, priority, seq, input, expires_at)
  SELECT request_id, $2::text, $3::uuid, $4::smallint, nextval('request_seq'), $5::json,
         now() + $6::float8 * interval '1 millisecond'
  FROM reserved
  RETURNING id, model_id, priority, seq, expires_at
), added AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, expires_at)
  SELECT model_id, priority, seq, id, expires_at
  FROM written
)
SELECT seq
FROM written`,
};

const findKey: Statement = {
  name: 'find_idempotency_key',
  text: `SELECT request_id AS id, fingerprint = $3::bytea AS "sameRequest"
FROM idempotency_key
WHERE api_key_id = $1::uuid
  AND key = $2::text`,
};

export async function submitOnce(database: Database, item: OnceSubmission): Promise<OnceResult> {
  const { keyId, idempotencyKey, fingerprint } = item;
  for (;;) {
    const [written] = await database.query<{ seq: number }>(submitOnceStatement, [
      ...valuesOf(item),
      idempotencyKey,
      fingerprint,
    ]);
    if (written !== undefined) return { kind: 'submitted', seq: written.seq };
    const [known] = await database.query<{ id: string; sameRequest: boolean }>(findKey, [
      keyId,
      idempotencyKey,
      fingerprint,
    ]);
    // Gone between the two statements: it was pruned, so the key is free now.
    if (known !== undefined) return { kind: 'known', ...known };
  }
}
