import { type Queries, statement } from '../../database/statement.js';
import type { Batch } from '../batch.js';
import {
  type BatchesPage,
  batchColumns,
  type BatchRow,
  liveCounts,
  readListed,
  statementOfBatch,
  toBatch,
} from './read-batches.js';

/** A batch with the name of its key; null: the key was deleted. */
export interface OperatorBatch extends Batch {
  keyName: string | null;
}

export interface OperatorBatchesPage extends BatchesPage {
  keyId?: string | undefined;
}

type Row = BatchRow & { keyName: string | null };

const columns = `${batchColumns}, api_key.name AS "keyName"`;
const keyOfBatch = 'LEFT JOIN api_key ON api_key.id = batch.api_key_id';

/*
 * Purpose: lists the batches of all keys, newest first.
 * Race: as of list_batches.
 * Index: batch_pkey, from one id on.
 */
const listStatement = statement('list_batches_of_all')`SELECT id
FROM batch
WHERE ($1::uuid IS NULL OR id < $1::uuid)
  AND ($2::text IS NULL OR status = $2::text)
  AND ($3::uuid IS NULL OR api_key_id = $3::uuid)
  AND ($4::text IS NULL OR tag = $4::text)
ORDER BY id DESC LIMIT $5::integer`;

/*
 * Purpose: reads batches of any key, newest first, with the counts of their lines at one moment.
 * Race: none: as of find_batches.
 * Index: batch_pkey; batch_line_pkey, a window of lines per open batch; request_pkey.
 */
const findStatement = statementOfBatch(
  'find_batches_of_any',
  (within) => `SELECT ${columns}
FROM batch
${keyOfBatch}
${liveCounts(within)}
WHERE batch.id = ANY ($1::uuid[])
ORDER BY batch.id DESC`,
);

const toOperatorBatch = ({ keyName, ...row }: Row): OperatorBatch => ({ ...toBatch(row), keyName });

export async function listOperatorBatches(
  queries: Queries,
  { before, status, keyId, tag, limit }: OperatorBatchesPage,
): Promise<OperatorBatch[]> {
  const values = [before ?? null, status ?? null, keyId ?? null, tag ?? null, limit];
  const list = (): Promise<{ id: string }[]> => queries.query(listStatement, values);
  return (await readListed<Row>(queries, list, findStatement)).map(toOperatorBatch);
}

export async function findOperatorBatch(queries: Queries, id: string): Promise<OperatorBatch | undefined> {
  const [row] = await queries.query<Row>(findStatement(id), [[id]]);
  return row && toOperatorBatch(row);
}
