import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { bySpan, statementOfDays } from '../../database/days.js';
import { statement } from '../../database/statement.js';

const atOnce = 200;

/** Condition of an old use: its request is written by now, unless its submission failed or was a repetition. */
const isOld = `request_id < uuid_at(clock_timestamp() - interval '1 hour')`;

/*
 * Purpose: finds whether there is anything to prune, because most rounds find nothing.
 * Race: rows that come later are for the next round.
 * Index: file_use_pkey from one id on; file_use_over, file_by_expiry, file_removed.
 */
const lookStatement = statement('prunable_files')`SELECT EXISTS (
         SELECT FROM file_use WHERE (request_id, file_id) > ($1::uuid, $2::uuid) AND ${isOld}
       ) AS uses,
       EXISTS (SELECT FROM file_use WHERE is_over)
       OR EXISTS (SELECT FROM file WHERE expires_at < clock_timestamp())
       OR EXISTS (SELECT FROM file WHERE state = 'removed') AS files`;

/** `uses`: there are uses to check after that position. */
export async function findPrunable(
  database: Database,
  { requestId, fileId }: UsePosition,
): Promise<{ uses: boolean; files: boolean }> {
  return (await database.query<{ uses: boolean; files: boolean }>(lookStatement, [requestId, fileId]))[0]!;
}

/*
 * Purpose: removes files that lost the payloads of all their requests, and files that no request has named for a day,
 *   unless their keys keep them.
 * Race: a request that names a file at the same time has a share lock on its row, which is skipped. The rows are locked
 *   first, by a statement of their own. The next statement sees all that was named before. A request that comes later
 *   waits and finds the file removed.
 * Index: file_use_over, file_by_expiry, file_pkey; then file_use_by_file.
 */
const lockStatement = statement('lock_prunable_files')`SELECT id FROM file
WHERE state <> 'removed'
  AND id = ANY (ARRAY(
    (SELECT file_id FROM file_use WHERE is_over LIMIT ${String(atOnce)})
    UNION
    (SELECT id FROM file WHERE expires_at < clock_timestamp() ORDER BY expires_at LIMIT ${String(atOnce)})
  ))
FOR UPDATE SKIP LOCKED`;

const removeStatement = statement('remove_files')`UPDATE file
SET state = CASE WHEN kept_until > clock_timestamp()
      OR EXISTS (SELECT FROM file_use WHERE file_id = file.id AND NOT is_over) THEN state ELSE 'removed' END,
    expires_at = CASE WHEN kept_until > clock_timestamp() AND isfinite(kept_until) THEN kept_until END
WHERE id = ANY ($1::uuid[])`;

const forgetStatement = statement('forget_file_uses')`DELETE FROM file_use
WHERE file_id = ANY ($1::uuid[]) AND is_over`;

/** Returns how many files were checked; 0: there are no more. */
export function removeUnusedFiles(database: Database): Promise<number> {
  return database.transaction(async (query) => {
    const ids = uuidArray((await query<{ id: string }>(lockStatement)).map(({ id }) => id));
    const count = ids.readInt32BE(12);
    if (count === 0) return 0;
    await query(removeStatement, [ids]);
    await query(forgetStatement, [ids]);
    return count;
  });
}

export interface RemovedFile {
  id: string;
  uploads: number;
}

/*
 * Purpose: reads removed files, whose bytes can be deleted, and deletes their rows once the bytes are.
 * Race: two nodes that delete the same bytes do no harm. A try that ends later finds no row and deletes its own bytes.
 * Index: file_removed, file_pkey.
 */
const removedStatement = statement('read_removed_files')`SELECT id, uploads FROM file
WHERE state = 'removed' LIMIT ${String(atOnce)}`;
const deleteStatement = statement('delete_files')`DELETE FROM file
WHERE id = ANY ($1::uuid[]) AND state = 'removed'`;

export function readRemovedFiles(database: Database): Promise<RemovedFile[]> {
  return database.query<RemovedFile>(removedStatement);
}

export async function deleteFiles(database: Database, ids: readonly string[]): Promise<void> {
  await database.query(deleteStatement, [uuidArray(ids)]);
}

/*
 * Purpose: reads old uses, some at a time.
 * Race: a use is written at most seconds before its request. Uses of the last hour are not read.
 * Index: file_use_pkey from one id on.
 */
const oldUsesStatement = statement(
  'old_file_uses',
)`SELECT request_id AS "requestId", file_id AS "fileId" FROM file_use
WHERE (request_id, file_id) > ($1::uuid, $2::uuid)
  AND ${isOld}
ORDER BY request_id, file_id LIMIT 1000`;

/*
 * Purpose: ends those of some old uses whose requests were never written. Batches use files, too, and end their uses
 *   themselves.
 * Race: none: these requests will not be written any more.
 * Index: file_use_pkey; request_pkey, in the days of the requests; batch_pkey.
 */
const endStrayStatement = statementOfDays(
  'end_stray_file_uses',
  (within) => `UPDATE file_use SET is_over = true
FROM unnest($1::uuid[], $2::uuid[]) AS old (request_id, file_id)
LEFT JOIN LATERAL (
  SELECT id FROM request WHERE request.id = old.request_id AND ${within('request.id')} LIMIT 1
) AS request ON true
LEFT JOIN batch ON batch.id = old.request_id
WHERE file_use.request_id = old.request_id AND file_use.file_id = old.file_id AND NOT is_over
  AND request.id IS NULL AND batch.id IS NULL`,
);

export interface UsePosition {
  requestId: string;
  fileId: string;
}

/** Returns how far it came. undefined: there are no more. */
export async function endStrayUses(
  database: Database,
  { requestId, fileId }: UsePosition,
): Promise<UsePosition | undefined> {
  const old = await database.query<UsePosition>(oldUsesStatement, [requestId, fileId]);
  for (const some of bySpan(old, (use) => use.requestId)) {
    const requestIds = some.map((use) => use.requestId);
    await database.query(endStrayStatement(...requestIds), [
      uuidArray(requestIds),
      uuidArray(some.map((use) => use.fileId)),
    ]);
  }
  return old.at(-1);
}
