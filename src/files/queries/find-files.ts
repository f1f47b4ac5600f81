import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface StoredFile {
  id: string;
  name: string;
  contentType: string;
  /** The try whose bytes are its. */
  upload: number;
  size: number;
  sha256: Buffer;
}

/*
 * Purpose: files to be read. One that was named, and of which all that named it is gone, is gone from that commit on:
 *   its bytes follow.
 * Race: none; a look that was a moment earlier finds it still.
 * Index: file_pkey, file_use_by_file.
 */
const findStatement = statement(
  'find_files',
)`SELECT id, name, content_type AS "contentType", upload, size, sha256
FROM file
WHERE id = ANY ($1::uuid[])
  AND state = 'stored'
  AND (EXISTS (SELECT FROM file_use WHERE file_id = file.id AND NOT is_over)
    OR NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id))`;

export async function findFiles(
  database: Database,
  fileIds: readonly string[],
): Promise<(StoredFile | undefined)[]> {
  const rows = await database.query<StoredFile>(findStatement, [uuidArray(fileIds)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return fileIds.map((id) => byId.get(id));
}
