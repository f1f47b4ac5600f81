import { uuidArray } from '../../../database/binary-array.js';
import { parameters, type Queries, statement } from '../../../database/statement.js';
import { byteaArray, textArray } from '../../../database/text-array.js';
import { insertMany, manyTypes, type Submission, withBound } from './submission.js';
import { type Submitted, submitStatement, waitOrBeHeld } from './submit.js';

/** `fingerprint`: SHA-256 of the submission, to distinguish a repetition from another request under the same key. */
export interface Idempotency {
  key: string;
  fingerprint: Buffer;
}

/** A submission that may have an idempotency key, or be of an API key with a bound. */
export interface OnceSubmission extends Submission {
  idempotency?: Idempotency | undefined;
  isBounded?: boolean;
}

/** The request of a key that was used before. */
export interface Known {
  id: string;
  fingerprint: Buffer;
}

/** Reserves the idempotency key for the submission. */
export const reserved = (rows: string): string => `reserved AS (
  INSERT INTO idempotency_key AS known (api_key_id, key, request_id, fingerprint)
  ${rows}
  ON CONFLICT (api_key_id, key) DO UPDATE
    SET request_id = excluded.request_id, fingerprint = excluded.fingerprint, created_at = now()
    WHERE known.created_at < now() - interval '24 hours'
  RETURNING request_id
), `;

/*
 * Purpose: submits requests together with their idempotency keys, unless those are taken, and some without keys, in
 *   one commit and in their order. Holds those of API keys with a bound.
 * Race: the second of two with one key waits for the first's insert, and inserts nothing. The keys come sorted, so
 *   two of these statements never deadlock. After 24 h a key may be used again.
 * Index: idempotency_key_pkey; the rest is as in submit. IS TRUE keeps the IN a hashed look-up: a join of the two
 *   lists would cost the product of their lengths.
 */
const { placeholders: $ } = parameters({
  ...manyTypes,
  keyedKeyId: 'uuid[]',
  idempotencyKey: 'text[]',
  keyedId: 'uuid[]',
  fingerprint: 'bytea[]',
  plainId: 'uuid[]',
  boundedId: 'uuid[]',
});
const submitReserved = submitStatement(
  'submit_once',
  insertMany(`WHERE (incoming.id IN (
    SELECT request_id FROM reserved
    UNION ALL
    SELECT unnest(${$.plainId})
  )) IS TRUE`),
  waitOrBeHeld(`id IN (SELECT unnest(${$.boundedId}))`),
  reserved(`SELECT *
  FROM unnest(${$.keyedKeyId}, ${$.idempotencyKey}, ${$.keyedId}, ${$.fingerprint})`),
);

interface KnownKey extends Known {
  keyId: string;
  key: string;
  /** False: the key is older than 24 hours. */
  isReserved: boolean;
}

/** Names an idempotency key, because each API key has its own. */
export const keyName = (keyId: string, key: string): string => `${keyId} ${key}`;

/** LATERAL keeps the planner from reading the whole index while it assumes that there are few keys. */
const findKeys = statement('find_idempotency_keys')`
SELECT wanted.api_key_id AS "keyId", wanted.key, known.request_id AS id, known.fingerprint,
       known.created_at >= now() - interval '24 hours' AS "isReserved"
FROM unnest($1::uuid[], $2::text[]) AS wanted (api_key_id, key)
CROSS JOIN LATERAL (
  SELECT request_id, fingerprint, created_at
  FROM idempotency_key
  WHERE api_key_id = wanted.api_key_id AND key = wanted.key
  LIMIT 1
) AS known`;

/** Returns the requests of those idempotency keys of an API key that may not be used again yet. */
export async function findReserved(
  database: Queries,
  keyId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, Known>> {
  const wanted = [uuidArray(keys.map(() => keyId)), textArray(keys)];
  const rows = await database.query<KnownKey>(findKeys, wanted);
  return new Map(rows.flatMap((row) => (row.isReserved ? [[row.key, row]] : [])));
}

/** Returns the request of a key that is taken; undefined: the key was pruned meanwhile. */
export async function findKnown(database: Queries, keyId: string, key: string): Promise<Known | undefined> {
  return (await database.query<KnownKey>(findKeys, [uuidArray([keyId]), textArray([key])]))[0];
}

/**
 * `items`: no two with the same API key and idempotency key. Returns one result per item. An item is an error if it
 * may have been submitted before and that cannot be read; the others are written.
 */
export async function submitOnce(
  database: Queries,
  items: readonly OnceSubmission[],
): Promise<(Submitted | Known | Error)[]> {
  const results = new Map<OnceSubmission, Submitted | Known | Error>();
  let left = [...items];
  while (left.length > 0) {
    const keyed = left
      .flatMap((item) => {
        const { idempotency } = item;
        return idempotency ? { item, ...idempotency, name: keyName(item.keyId, idempotency.key) } : [];
      })
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const wanted = [uuidArray(keyed.map(({ item }) => item.keyId)), textArray(keyed.map(({ key }) => key))];
    const own = [
      ...wanted,
      uuidArray(keyed.map(({ item }) => item.id)),
      byteaArray(keyed.map(({ fingerprint }) => fingerprint.toString('hex'))),
      uuidArray(left.flatMap(({ id, idempotency }) => (idempotency === undefined ? id : []))),
      uuidArray(left.flatMap(({ id, isBounded }) => (isBounded === true ? id : []))),
    ];
    const rows = await withBound(left, (values) =>
      database.query<Submitted>(submitReserved, [...values, ...own]),
    );
    const written = new Map(rows.map((row) => [row.id, row]));
    for (const item of left) if (written.has(item.id)) results.set(item, written.get(item.id)!);
    left = left.filter((item) => !results.has(item));
    if (left.length === 0) break;
    const known = await findAll(database, wanted);
    for (const { item, name } of keyed) {
      const result = known instanceof Error ? known : known.get(name);
      if (result !== undefined && !results.has(item)) results.set(item, result);
    }
    // Submissions that are neither were pruned between the two statements, so their keys are free now.
    left = left.filter((item) => !results.has(item));
  }
  return items.map((item) => results.get(item)!);
}

/**
 * Returns the requests by key name. An error is returned, not thrown, so that what was written before is not lost
 * with it.
 */
async function findAll(database: Queries, wanted: unknown[]): Promise<ReadonlyMap<string, Known> | Error> {
  try {
    const rows = await database.query<KnownKey>(findKeys, wanted);
    return new Map(rows.map((row) => [keyName(row.keyId, row.key), row]));
  } catch (error) {
    return error as Error;
  }
}
