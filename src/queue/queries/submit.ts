import { parameters, type Queries, type Statement, statement } from '../../database/statement.js';
import type { Database } from '../../database/database.js';
import { withJsonArray } from '../submit/json-array.js';
import { bindMany, insertMany, insertOne, type Submission, submissionTypes, valuesOf } from './submission.js';

export interface Submitted {
  id: string;
  seq: number;
}

/*
 * Purpose: puts requests on disk and in the queue, or beside it until their time, in one statement and one commit.
 * Race: none to lose. Row and queue entry appear together; two submits that overlap draw their seqs and commit in either
 *   order, which is why a claim's floor is only a hint.
 * Index: inserts into request_pkey (today's partition), queue_entry_pkey, and the index by expires_at of those that have one.
 */
const submitStatement = (name: string, insert: string, before = ''): Statement => statement(name)`
WITH ${before}written AS (
  ${insert}
  RETURNING id, model_id, api_key_id, priority, seq, expires_at, not_before
), added AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, api_key_id, expires_at)
  SELECT model_id, priority, seq, id, api_key_id, expires_at FROM written WHERE not_before IS NULL
), scheduled AS (
  INSERT INTO delayed_entry (model_id, priority, seq, request_id, api_key_id, expires_at, ready_at, is_scheduled)
  SELECT model_id, priority, seq, id, api_key_id, expires_at, not_before, true FROM written
  WHERE not_before IS NOT NULL
)
SELECT id, seq FROM written`;

const submitOne = submitStatement('submit_one', insertOne());
const submitMany = submitStatement('submit_many', insertMany);
const { bind } = parameters(submissionTypes);

export async function submit(database: Queries, items: Submission[]): Promise<Submitted[]> {
  if (items.length === 1) return database.query<Submitted>(submitOne, bind(valuesOf(items[0]!)));
  // Each is known to be one JSON value. An array of texts would be escaped here and unescaped there.
  const rows = await withJsonArray(
    items.map(({ input }) => input),
    (inputs) => database.query<Submitted>(submitMany, bindMany(items, inputs)),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => byId.get(id)!);
}

/** `fingerprint`: SHA-256 of what was asked, to tell a repetition from another request under the same key. */
type OnceSubmission = Submission & { idempotencyKey: string; fingerprint: Buffer };

/** The request of a key that was used before. */
type Known = { id: string; sameRequest: boolean };

/*
 * Purpose: submits a request together with its idempotency key, in one commit, unless the key is taken.
 * Race: the second of two with one key waits for the first's insert, and inserts nothing. After 24 h a key is taken over.
 * Index: idempotency_key_pkey; the rest is as in submit.
 */
const { placeholders: $, bind: bindOnce } = parameters({
  ...submissionTypes,
  idempotencyKey: 'text',
  fingerprint: 'bytea',
});

const reserved = `reserved AS (
  INSERT INTO idempotency_key AS known (api_key_id, key, request_id, fingerprint)
  VALUES (${$.keyId}, ${$.idempotencyKey}, ${$.id}, ${$.fingerprint})
  ON CONFLICT (api_key_id, key) DO UPDATE
    SET request_id = excluded.request_id, fingerprint = excluded.fingerprint, created_at = now()
    WHERE known.created_at < now() - interval '24 hours'
  RETURNING request_id
), `;
const submitReserved = submitStatement('submit_once', insertOne('reserved'), reserved);

const findKey = statement(
  'find_idempotency_key',
)`SELECT request_id AS id, fingerprint = $3::bytea AS "sameRequest"
FROM idempotency_key
WHERE api_key_id = $1::uuid AND key = $2::text`;

export async function submitOnce(database: Database, item: OnceSubmission): Promise<Submitted | Known> {
  const key = [item.keyId, item.idempotencyKey, item.fingerprint];
  for (;;) {
    const [written] = await database.query<Submitted>(
      submitReserved,
      bindOnce({ ...item, ...valuesOf(item) }),
    );
    if (written !== undefined) return written;
    const [known] = await database.query<Known>(findKey, key);
    // Gone between the two statements: it was pruned, so the key is free now.
    if (known !== undefined) return known;
  }
}
