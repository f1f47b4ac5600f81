import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface StoredFile {
  id: string;
  name: string;
  contentType: string;
  /** The try whose bytes are those of the file. */
  upload: number;
  size: number;
  sha256: Buffer;
}

/*
 * Purpose: finds files to read. If a file was named by requests, and the payloads of all of them are gone, it is gone
 *   from that commit on, unless its key keeps it. Its bytes are removed later.
 * Race: none (read only). A look a moment earlier still finds the file.
 * Index: file_pkey, file_use_by_file.
 */
const findStatement = statement(
  'find_files',
)`SELECT id, name, content_type AS "contentType", upload, size, sha256
FROM file
WHERE id = ANY ($1::uuid[])
  AND state = 'stored'
  AND (kept_until > clock_timestamp()
    OR EXISTS (SELECT FROM file_use WHERE file_id = file.id AND NOT is_over)
    OR NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id))`;

export async function findFiles(
  database: Database,
  fileIds: readonly string[],
): Promise<(StoredFile | undefined)[]> {
  const rows = await database.query<StoredFile>(findStatement, [uuidArray(fileIds)]);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return fileIds.map((id) => byId.get(id));
}
