import { uuidArray } from '../../../database/binary-array.js';
import type { Database } from '../../../database/database.js';
import { type Queries, statement } from '../../../database/statement.js';

export interface FileUse {
  requestId: string;
  keyId: string;
  fileId: string;
}

/*
 * Purpose: notes which files of its own key a request names, before the request, or its end, is written.
 * Race: against the deletion of the file: FOR SHARE waits for it, and then finds the file removed. A deletion waits
 *   for this, and then finds the use. Many share the lock. Files of other keys, and ids of no file, are skipped.
 * Index: file_pkey, request_pkey; inserts into file_use_pkey.
 */
const usesOfInputs = statement('use_files_in_inputs')`WITH own AS (
  SELECT request_id, id
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS named (request_id, key_id, file_id)
  JOIN file ON file.id = named.file_id AND file.api_key_id = named.key_id
  WHERE file.state <> 'removed'
  ORDER BY id
  FOR SHARE OF file
)
INSERT INTO file_use (request_id, file_id, in_input)
SELECT request_id, id, true FROM own
ON CONFLICT DO NOTHING`;

export async function useFilesInInputs(database: Database, uses: readonly FileUse[]): Promise<void> {
  await database.query(usesOfInputs, [
    uuidArray(uses.map(({ requestId }) => requestId)),
    uuidArray(uses.map(({ keyId }) => keyId)),
    uuidArray(uses.map(({ fileId }) => fileId)),
  ]);
}

/*
 * Purpose: keeps files of a key while something other than a request, with an id of its own, needs them.
 * Race: as above. A file that was removed, or is of another key, is not among the rows.
 * Index: file_pkey; inserts into file_use_pkey.
 */
const holdStatement = statement('hold_files')`WITH own AS (
  SELECT id FROM file
  WHERE id = ANY ($3::uuid[]) AND api_key_id = $2::uuid AND state = 'stored'
  ORDER BY id
  FOR SHARE
)
INSERT INTO file_use (request_id, file_id, in_input)
SELECT $1::uuid, id, true FROM own
RETURNING file_id AS id`;

/** Returns false if a file is not there. */
export async function holdFiles(
  queries: Queries,
  holderId: string,
  keyId: string,
  fileIds: readonly string[],
): Promise<boolean> {
  const rows = await queries.query(holdStatement, [holderId, keyId, uuidArray(fileIds)]);
  return rows.length === fileIds.length;
}

/*
 * Purpose: ends what holds files: all of a holder, or one of them.
 * Race: none: the pruner looks at a file once its use is over.
 * Index: file_use_pkey.
 */
const releaseStatement = statement('release_files')`UPDATE file_use SET is_over = true
WHERE request_id = $1::uuid AND ($2::uuid IS NULL OR file_id = $2::uuid) AND NOT is_over`;

export async function releaseFiles(queries: Queries, holderId: string, fileId?: string): Promise<void> {
  await queries.query(releaseStatement, [holderId, fileId ?? null]);
}

/*
 * Purpose: notes which files of its own key an output names, before the end of its run is written.
 * Race: as above. A run that has lost its lease notes nothing: its output is refused, and the request may have been
 *   completed, or erased, since.
 * Index: lease_pkey, request_pkey, file_pkey; inserts into file_use_pkey.
 */
const usesOfOutput = statement('use_files_in_output')`WITH own AS (
  SELECT file.id
  FROM lease
  JOIN recent_request AS request ON request.id = lease.request_id
  JOIN file ON file.id = ANY ($3::uuid[]) AND file.api_key_id = request.api_key_id
  WHERE lease.request_id = $1::uuid AND lease.token = $2::uuid AND file.state <> 'removed'
  ORDER BY file.id
  FOR SHARE OF file
)
INSERT INTO file_use (request_id, file_id, in_input)
SELECT $1::uuid, id, false FROM own
ON CONFLICT DO NOTHING`;

export async function useFilesInOutput(
  database: Database,
  { requestId, token }: { requestId: string; token: string },
  fileIds: readonly string[],
): Promise<void> {
  await database.query(usesOfOutput, [requestId, token, uuidArray(fileIds)]);
}
