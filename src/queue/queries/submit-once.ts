import type { Database } from '../../database/database.js';
import { parameters, statement } from '../../database/statement.js';
import { insertOne, intoQueue, returningEntry, type Submission, submissionTypes } from './submission.js';

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
const { placeholders: $, bind } = parameters({
  ...submissionTypes,
  idempotencyKey: 'text',
  fingerprint: 'bytea',
});

const submitOnceStatement = statement('submit_once')`WITH reserved AS (
  INSERT INTO idempotency_key AS known (api_key_id, key, request_id, fingerprint)
  VALUES (${$.keyId}, ${$.idempotencyKey}, ${$.id}, ${$.fingerprint})
  ON CONFLICT (api_key_id, key) DO UPDATE
    SET request_id = excluded.request_id, fingerprint = excluded.fingerprint, created_at = now()
    WHERE known.created_at < now() - interval '24 hours'
  RETURNING request_id
), written AS (
  ${insertOne('reserved')}
  ${returningEntry}
), added AS (
  ${intoQueue}
)
SELECT seq
FROM written`;

const findKey = statement('find_idempotency_key')`SELECT request_id AS id,
       fingerprint = $3::bytea AS "sameRequest"
FROM idempotency_key
WHERE api_key_id = $1::uuid
  AND key = $2::text`;

export async function submitOnce(database: Database, item: OnceSubmission): Promise<OnceResult> {
  const key = [item.keyId, item.idempotencyKey, item.fingerprint];
  for (;;) {
    const [written] = await database.query<{ seq: number }>(submitOnceStatement, bind(item));
    if (written !== undefined) return { kind: 'submitted', seq: written.seq };
    const [known] = await database.query<{ id: string; sameRequest: boolean }>(findKey, key);
    // Gone between the two statements: it was pruned, so the key is free now.
    if (known !== undefined) return { kind: 'known', ...known };
  }
}
