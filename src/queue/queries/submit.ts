import { parameters, type Queries, type Statement, statement } from '../../database/statement.js';
import { withJsonArray } from '../submit/json-array.js';
import {
  bindMany,
  insertMany,
  insertOne,
  intoQueue,
  returningEntry,
  type Submission,
  submissionTypes,
} from './submission.js';

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
const submitStatement = (name: string, insert: string): Statement => statement(name)`WITH written AS (
  ${insert}
  ${returningEntry}
), added AS (
  ${intoQueue}
)
SELECT id, seq
FROM written`;

const submitOne = submitStatement('submit_one', insertOne());
const submitMany = submitStatement('submit_many', insertMany);
const { bind } = parameters(submissionTypes);

export async function submit(database: Queries, items: Submission[]): Promise<Submitted[]> {
  if (items.length === 1) return database.query<Submitted>(submitOne, bind(items[0]!));
  // Each is known to be one JSON value. An array of texts would be escaped here and unescaped there.
  const rows = await withJsonArray(
    items.map(({ input }) => input),
    (inputs) => database.query<Submitted>(submitMany, bindMany(items, inputs)),
  );
  const seqs = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ id }) => seqs.get(id)!);
}
