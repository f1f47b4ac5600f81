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
 * Purpose: a file to be read. One that was named, and of which all that named it is gone, is gone from that commit on: its
 *   bytes follow.
 * Race: none; a look that was a moment earlier finds it still.
 * Index: file_pkey, file_use_by_file.
 */
const findStatement = statement(
  'find_file',
)`SELECT id, name, content_type AS "contentType", upload, size, sha256
FROM file
WHERE id = $1::uuid
  AND state = 'stored'
  AND (EXISTS (SELECT FROM file_use WHERE file_id = file.id AND NOT is_over)
    OR NOT EXISTS (SELECT FROM file_use WHERE file_id = file.id))`;

export async function findFile(database: Database, fileId: string): Promise<StoredFile | undefined> {
  return (await database.query<StoredFile>(findStatement, [fileId]))[0];
}
