import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/*
 * Purpose: a try to upload a file: its number, by which its bytes are kept, before the first of them is written.
 * Race: two tries at once get two numbers, and mix no bytes. What is written of a try that a crash ended is found by the
 *   count of tries when the file goes.
 * Index: file_pkey.
 */
const beginStatement = statement('begin_upload')`UPDATE file SET uploads = uploads + 1
WHERE id = $1::uuid AND state = 'initiated' AND uploads < $2::integer
RETURNING uploads`;

/** undefined: it is stored, or gone, or was tried so often. */
export async function beginUpload(
  database: Database,
  fileId: string,
  maxUploads: number,
): Promise<number | undefined> {
  return (await database.query<{ uploads: number }>(beginStatement, [fileId, maxUploads]))[0]?.uploads;
}

export interface Content {
  upload: number;
  size: number;
  sha256: Buffer;
}

/*
 * Purpose: makes the bytes of a try the file's, once they are on disk.
 * Race: of two tries the first to come here wins; the other finds the file stored, and takes its bytes away.
 * Index: file_pkey.
 */
const endStatement = statement('end_upload')`UPDATE file
SET state = 'stored', upload = $2::smallint, size = $3::bigint, sha256 = $4::bytea, stored_at = clock_timestamp()
WHERE id = $1::uuid AND state = 'initiated'
RETURNING id`;

export async function endUpload(
  database: Database,
  fileId: string,
  { upload, size, sha256 }: Content,
): Promise<boolean> {
  return (await database.query(endStatement, [fileId, upload, size, sha256])).length > 0;
}
