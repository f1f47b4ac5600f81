import { type Queries, statement } from '../../database/statement.js';
import type { SegmentKind } from '../batch.js';

/*
 * Purpose: finds ended batches whose files may have lines of erased requests. Files of other batches still grow.
 * Race: none: what is erased later is found the next time.
 * Index: erased_line_left, batch_pkey.
 */
const batchesStatement = statement('batches_with_erased_lines')`SELECT DISTINCT batch_id AS id
FROM erased_line JOIN batch ON batch.id = batch_id
WHERE NOT is_gone AND ended_at IS NOT NULL
LIMIT 100`;

export async function batchesWithErasedLines(queries: Queries): Promise<string[]> {
  return (await queries.query<{ id: string }>(batchesStatement)).map(({ id }) => id);
}

/** A segment of an ended batch. */
export interface StoredSegment {
  kind: SegmentKind;
  number: number;
  fileId: string;
  bytes: number;
}

/*
 * Purpose: reads the erased requests of a batch, and its segments.
 * Race: a segment may be replaced meanwhile; the replacement names the file that it replaces.
 * Index: erased_line_left, batch_segment_pkey.
 */
const contentStatement = statement('erased_lines_of_batch')`SELECT
  ARRAY(SELECT request_id::text FROM erased_line WHERE batch_id = $1::uuid AND NOT is_gone) AS erased,
  (
    SELECT coalesce(json_agg(json_build_object('kind', kind, 'number', number, 'fileId', file_id, 'bytes', bytes)), '[]')
    FROM batch_segment WHERE batch_id = $1::uuid
  ) AS segments`;

export async function erasedLinesOf(
  queries: Queries,
  batchId: string,
): Promise<{ erased: string[]; segments: StoredSegment[] }> {
  const [row] = await queries.query<{ erased: string[]; segments: StoredSegment[] }>(contentStatement, [
    batchId,
  ]);
  return row!;
}

/*
 * Purpose: puts another file in the place of a segment's.
 * Race: finds no row if another node has replaced the file, or the batch was deleted. It locks the batch first, as a
 *   deletion does, so that neither has what the other waits for.
 * Index: batch_pkey, batch_segment_pkey.
 */
const replaceStatement = statement('replace_batch_segment')`WITH own AS (
  SELECT id FROM batch WHERE id = $1::uuid
  FOR NO KEY UPDATE
), replaced AS (
  UPDATE batch_segment SET file_id = $5::uuid, bytes = $6::bigint
  FROM own
  WHERE batch_id = $1::uuid AND kind = $2::text AND number = $3::integer AND file_id = $4::uuid
  RETURNING batch_id
)
UPDATE batch
SET output_bytes = output_bytes + CASE WHEN $2::text = 'output' THEN $7::bigint ELSE 0 END,
    error_bytes = error_bytes + CASE WHEN $2::text = 'errors' THEN $7::bigint ELSE 0 END
FROM replaced WHERE id = replaced.batch_id
RETURNING id`;

/** Returns false if the segment has another file by now. */
export async function replaceSegment(
  queries: Queries,
  batchId: string,
  { kind, number, fileId, bytes }: StoredSegment,
  by: { fileId: string; bytes: number },
): Promise<boolean> {
  const values = [batchId, kind, number, fileId, by.fileId, by.bytes, by.bytes - bytes];
  return (await queries.query(replaceStatement, values)).length > 0;
}

/*
 * Purpose: notes that no segment of a batch has lines of these requests.
 * Race: none: rows are only added and deleted.
 * Index: erased_line_pkey.
 */
const goneStatement = statement('erased_lines_are_gone')`UPDATE erased_line SET is_gone = true
WHERE batch_id = $1::uuid AND request_id = ANY ($2::uuid[])`;

export async function markErasedLinesGone(
  queries: Queries,
  batchId: string,
  requestIds: readonly string[],
): Promise<void> {
  await queries.query(goneStatement, [batchId, requestIds]);
}
