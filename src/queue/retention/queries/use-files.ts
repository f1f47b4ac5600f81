import { uuidArray } from '../../../database/binary-array.js';
import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';

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

const usesOfOutput = statement('use_files_in_output')`WITH own AS (
  SELECT file.id
  FROM recent_request AS request
  JOIN file ON file.id = ANY ($2::uuid[]) AND file.api_key_id = request.api_key_id
  WHERE request.id = $1::uuid AND file.state <> 'removed'
  ORDER BY file.id
  FOR SHARE OF file
)
INSERT INTO file_use (request_id, file_id, in_input)
SELECT $1::uuid, id, false FROM own
ON CONFLICT DO NOTHING`;

export async function useFilesInOutput(
  database: Database,
  requestId: string,
  fileIds: readonly string[],
): Promise<void> {
  await database.query(usesOfOutput, [requestId, uuidArray(fileIds)]);
}
