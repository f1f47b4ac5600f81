import type { Queries, Statement } from '../../database/statement.js';
import { withJsonArray } from '../submit/json-array.js';

export interface Submission {
  id: string;
  modelId: string;
  keyId: string;
  priority: number;
  /** JSON in UTF-8, checked to be one value. */
  input: Buffer;
  expiresMs: number | null;
}

export interface Submitted {
  id: string;
  seq: number;
}

/*
 * Purpose: puts requests on disk and in the queue, in one statement and one commit.
 * Race: none to lose. The row and its queue entry appear together; seq is drawn once per row, and two
 *   submits that overlap may commit in either order, which is why a claim's floor is only a hint.
 * Index: inserts into request_pkey (today's partition) and queue_entry_pkey.
 */
const into = `INSERT INTO request (id, model_id, api_key_id, priority, seq, input, expires_at)`;
const one = `$1::uuid, $2::text, $3::uuid, $4::smallint, nextval('request_seq'), $5::json,
         now() + $6::float8 * interval '1 millisecond'`;
const returning = `RETURNING id, model_id, priority, seq, expires_at`;
const added = `added AS (
  INSERT INTO queue_entry (model_id, priority, seq, request_id, expires_at)
  SELECT model_id, priority, seq, id, expires_at
  FROM written
)`;
const addAndReturn = `${added}
SELECT id, seq
FROM written`;

const submitOne: Statement = {
  name: 'submit_one',
  text: `WITH written AS (
  ${into}
  VALUES (${one})
  ${returning}
), ${addAndReturn}`,
};

const submitMany: Statement = {
  name: 'submit_many',
  text: `WITH written AS (
  ${into}
  SELECT id, model_id, key_id, priority, nextval('request_seq'), input,
         now() + expires_ms * interval '1 millisecond'
  FROM ROWS FROM (unnest($1::uuid[], $2::text[], $3::uuid[], $4::smallint[], $5::float8[]), json_array_elements($6::json))
    AS incoming (id, model_id, key_id, priority, expires_ms, input)
  ${returning}
), ${addAndReturn}`,
};

export async function submit(database: Queries, items: Submission[]): Promise<Submitted[]> {
  if (items.length === 1) return database.query<Submitted>(submitOne, valuesOf(items[0]!));
  // Each is known to be one JSON value. An array of texts would be escaped here and unescaped there.
  const inputs = items.map(({ input }) => input);
  const rows = await withJsonArray(inputs, (array) =>
    database.query<Submitted>(submitMany, [
      plainArray(items.map(({ id }) => id)),
      plainArray(items.map(({ modelId }) => `"${modelId}"`)),
      plainArray(items.map(({ keyId }) => keyId)),
      plainArray(items.map(({ priority }) => priority)),
      plainArray(items.map(({ expiresMs }) => expiresMs)),
      array,
    ]),
  );
  const seqs = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => seqs.get(id)!);
}

/** The first six parameters of every statement that writes one. */
export const valuesOf = ({ id, modelId, keyId, priority, input, expiresMs }: Submission): unknown[] => [
  id,
  modelId,
  keyId,
  priority,
  input,
  expiresMs,
];

/** An array parameter as text, of what needs no escape; pg would look for something to escape in each element. */
const plainArray = (values: (string | number | null)[]): string =>
  `{${values.map((value) => value ?? 'NULL').join()}}`;
