import { parameters, type Queries, type Statement, statement } from '../../database/statement.js';
import type { Database } from '../../database/database.js';
import { withJsonArray } from '../submit/json-array.js';
import {
  bindMany,
  insertMany,
  insertOne,
  manyTypes,
  type Submission,
  submissionTypes,
  valuesOf,
} from './submission.js';

export interface Submitted {
  id: string;
  seq: number;
}

const entry = 'model_id, priority, virtual_start, seq, request_id, api_key_id, expires_at';
const ofWritten = 'model_id, priority, virtual_start, seq, id, api_key_id, expires_at';

/** Where what was `written` waits. */
const wait = `added AS (
  INSERT INTO queue_entry (${entry})
  SELECT ${ofWritten} FROM written WHERE not_before IS NULL
), scheduled AS (
  INSERT INTO delayed_entry (${entry}, ready_at, is_scheduled)
  SELECT ${ofWritten}, not_before, true FROM written
  WHERE not_before IS NOT NULL
)`;
/** The same for a key with a bound, for which nothing waits in the queue that may not run. */
const waitHeld = `held AS (
  INSERT INTO delayed_entry (${entry}, bounded_key_id, ready_at, is_scheduled)
  SELECT ${ofWritten}, CASE WHEN not_before IS NULL THEN api_key_id END, coalesce(not_before, 'infinity'),
         not_before IS NOT NULL
  FROM written
)`;
export const waitWhere = (isHeld: boolean): string => (isHeld ? waitHeld : wait);

/** The statement, and that for a key with a bound. */
export type Both = Record<'free' | 'held', Statement>;
export const both = (make: (isHeld: boolean, suffix: string) => Statement): Both => ({
  free: make(false, ''),
  held: make(true, '_held'),
});

/*
 * Purpose: puts requests on disk and in the queue, or beside it until their time, in one statement and one commit.
 * Race: none to lose. Row and queue entry appear together; two submits that overlap draw their seqs and commit in either
 *   order, which is why a claim's floor is only a hint.
 * Index: inserts into request_pkey (today's partition), queue_entry_pkey, and the index by expires_at of those that have one.
 */
const submitStatements = (name: string, insert: string, before = ''): Both =>
  both(
    (isHeld, suffix) => statement(name + suffix)`
WITH ${before}written AS (
  ${insert}
  RETURNING id, model_id, api_key_id, priority, virtual_start, seq, expires_at, not_before
), ${waitWhere(isHeld)}
SELECT id, seq FROM written`,
  );

const submitOne = submitStatements('submit_one', insertOne());
const submitMany = submitStatements('submit_many', insertMany());
const { bind } = parameters(submissionTypes);

/** `how`: `held` where all are of keys with a bound. */
export async function submit(
  database: Queries,
  items: Submission[],
  how: keyof Both = 'free',
): Promise<Submitted[]> {
  if (items.length === 1) return database.query<Submitted>(submitOne[how], bind(valuesOf(items[0]!)));
  // Each is known to be one JSON value. An array of texts would be escaped here and unescaped there.
  const rows = await withJsonArray(
    items.map(({ input }) => input),
    (inputs) => database.query<Submitted>(submitMany[how], bindMany(items, inputs)),
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => byId.get(id)!);
}

/** `fingerprint`: SHA-256 of what was asked, to distinguish a repetition from another request under the same key. */
interface Keyed {
  idempotencyKey: string;
  fingerprint: Buffer;
}
export type OnceSubmission = Submission & Keyed;

/** The request of a key that was used before. */
export interface Known {
  id: string;
  fingerprint: Buffer;
}

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

/** The key's row, for the submission that may have it. */
export const reserved = (rows: string): string => `reserved AS (
  INSERT INTO idempotency_key AS known (api_key_id, key, request_id, fingerprint)
  ${rows}
  ON CONFLICT (api_key_id, key) DO UPDATE
    SET request_id = excluded.request_id, fingerprint = excluded.fingerprint, created_at = now()
    WHERE known.created_at < now() - interval '24 hours'
  RETURNING request_id
), `;
const submitReserved = submitStatements(
  'submit_once',
  insertOne('reserved'),
  reserved(`VALUES (${$.keyId}, ${$.idempotencyKey}, ${$.id}, ${$.fingerprint})`),
);

const findKey = statement('find_idempotency_key')`SELECT request_id AS id, fingerprint
FROM idempotency_key
WHERE api_key_id = $1::uuid AND key = $2::text`;

/** Of a key that is taken; undefined: it was pruned meanwhile. */
export async function findKnown(database: Queries, keyId: string, key: string): Promise<Known | undefined> {
  return (await database.query<Known>(findKey, [keyId, key]))[0];
}

export async function submitOnce(
  database: Database,
  item: OnceSubmission,
  how: keyof Both = 'free',
): Promise<Submitted | Known> {
  const { keyId, idempotencyKey } = item;
  for (;;) {
    const [written] = await database.query<Submitted>(
      submitReserved[how],
      bindOnce({ ...item, ...valuesOf(item) }),
    );
    if (written !== undefined) return written;
    const known = await findKnown(database, keyId, idempotencyKey);
    // Gone between the two statements: it was pruned, so the key is free now.
    if (known !== undefined) return known;
  }
}

/*
 * Purpose: the same for many of one API key, some of them without an idempotency key, in one commit and in their order.
 * Race: as above; the keys come sorted, so two of these never wait for each other in a circle.
 * Index: as above. IS TRUE keeps the IN a hashed look-up: a join of the two lists would cost the product of their lengths.
 */
const { placeholders: many$ } = parameters({
  ...manyTypes,
  idempotencyKey: 'text[]',
  keyedId: 'uuid[]',
  fingerprint: 'bytea[]',
  plainId: 'uuid[]',
});
const submitManyReserved = submitStatements(
  'submit_many_once',
  insertMany(`WHERE (incoming.id IN (
    SELECT request_id FROM reserved
    UNION ALL
    SELECT unnest(${many$.plainId})
  )) IS TRUE`),
  reserved(`SELECT (${many$.keyId})[1], keyed.*
  FROM unnest(${many$.idempotencyKey}, ${many$.keyedId}, ${many$.fingerprint}) AS keyed`),
);

interface KnownKey extends Known {
  key: string;
}

/** LATERAL keeps the planner from reading the whole index, while it believes that there are few keys. */
const findKeysWhere = (name: string, condition: string) => statement(name)`
SELECT wanted.key, known.request_id AS id, known.fingerprint
FROM unnest($2::text[]) AS wanted (key)
CROSS JOIN LATERAL (
  SELECT request_id, fingerprint
  FROM idempotency_key
  WHERE api_key_id = $1::uuid AND key = wanted.key${condition}
  LIMIT 1
) AS known`;
const findKeys = findKeysWhere('find_idempotency_keys', '');
const findHeldKeys = findKeysWhere(
  'find_held_idempotency_keys',
  ` AND created_at >= now() - interval '24 hours'`,
);

/** What keys stand for whose 24 hours are not over, whether or not there is room for another submission. */
export async function findHeld(
  database: Queries,
  keyId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Known>> {
  const rows = await database.query<KnownKey>(findHeldKeys, [keyId, keys]);
  return new Map(rows.map((row) => [row.key, row]));
}

/** One of many, which may have an idempotency key. */
export type MaybeOnceSubmission = Submission & Partial<Keyed>;
const isKeyed = (item: MaybeOnceSubmission): item is OnceSubmission => item.idempotencyKey !== undefined;

/** `items`: of one API key, no two with one idempotency key. One result an item. */
export async function submitManyOnce(
  database: Database,
  items: readonly MaybeOnceSubmission[],
  how: keyof Both = 'free',
): Promise<(Submitted | Known)[]> {
  const results = new Map<MaybeOnceSubmission, Submitted | Known>();
  let left = [...items];
  while (left.length > 0) {
    const keyed = left
      .filter((item) => isKeyed(item))
      .sort((a, b) => (a.idempotencyKey < b.idempotencyKey ? -1 : 1));
    const keys = keyed.map(({ idempotencyKey }) => idempotencyKey);
    const own = [
      keys,
      keyed.map(({ id }) => id),
      keyed.map(({ fingerprint }) => fingerprint),
      left.filter((item) => !isKeyed(item)).map(({ id }) => id),
    ];
    const rows = await withJsonArray(
      left.map(({ input }) => input),
      (inputs) => database.query<Submitted>(submitManyReserved[how], [...bindMany(left, inputs), ...own]),
    );
    const written = new Map(rows.map((row) => [row.id, row]));
    const known =
      rows.length === left.length ? [] : await database.query<KnownKey>(findKeys, [left[0]!.keyId, keys]);
    const knownOf = new Map(known.map((row) => [row.key, row]));
    for (const item of left) {
      const result = written.get(item.id) ?? knownOf.get(item.idempotencyKey ?? '');
      if (result !== undefined) results.set(item, result);
    }
    // Those that are neither were pruned between the two statements, so their keys are free now.
    left = left.filter((item) => !results.has(item));
  }
  return items.map((item) => results.get(item)!);
}
