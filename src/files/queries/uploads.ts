import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { columnsOf, statement } from '../../database/statement.js';

export interface FileRow {
  id: string;
  keyId: string;
  name: string;
  contentType: string;
  /** Tries that have begun. */
  uploads: number;
}

/*
 * Purpose: adds files that are to come. Each is deleted after a day if no request has named it.
 * Race: none, because nobody knows their ids yet. Repeated after a lost answer, it finds its rows.
 * Index: inserts into file_pkey and file_by_expiry.
 */
const addStatement = statement(
  'add_files',
)`INSERT INTO file (id, api_key_id, name, content_type, uploads, expires_at)
SELECT *, clock_timestamp() + interval '24 hours'
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::smallint[])
ON CONFLICT DO NOTHING`;

export async function addFiles(database: Database, files: readonly FileRow[]): Promise<void> {
  await database.query(addStatement, [
    uuidArray(files.map(({ id }) => id)),
    uuidArray(files.map(({ keyId }) => keyId)),
    ...columnsOf(files, 'name', 'contentType', 'uploads'),
  ]);
}

const maxTries = 100;

/*
 * Purpose: begins tries to upload files. Their bytes are kept under the number of the try, so the number comes first.
 * Race: two tries of a file get two numbers and mix no bytes, even in one statement. Bytes of a try that a crash ended
 *   are found by the count of tries when the file is deleted. The rows are locked in the order of their ids, so that
 *   two of these statements never deadlock.
 * Index: file_pkey.
 */
const beginStatement = statement('begin_uploads')`WITH begun AS (
  SELECT id, times
  FROM unnest($1::uuid[], $2::smallint[]) AS begun (id, times)
  JOIN file USING (id)
  WHERE state = 'initiated' AND uploads < ${String(maxTries)}
  ORDER BY id
  FOR UPDATE OF file
)
UPDATE file SET uploads = uploads + times
FROM begun
WHERE file.id = begun.id
RETURNING file.id, uploads, api_key_id AS "keyId"`;

/** One try to upload a file, and the key that owns the file. */
export interface Try {
  number: number;
  keyId: string;
}

/** Returns one per file. undefined: the file is stored, is gone, or was tried 100 times. */
export async function beginUploads(
  database: Database,
  fileIds: readonly string[],
): Promise<(Try | undefined)[]> {
  const times = new Map<string, number>();
  for (const id of fileIds) times.set(id, (times.get(id) ?? 0) + 1);
  const ids = [...times.keys()];
  const rows = await database.query<{ id: string; uploads: number; keyId: string }>(beginStatement, [
    uuidArray(ids),
    [...times.values()],
  ]);
  const last = new Map(rows.map(({ id, uploads: number, keyId }) => [id, { number, keyId }]));
  return fileIds.map((id) => {
    const one = last.get(id);
    if (one !== undefined) last.set(id, { ...one, number: one.number - 1 });
    return one;
  });
}

export interface Content {
  id: string;
  upload: number;
  size: number;
  sha256: Buffer;
}

/*
 * Purpose: makes the bytes of tries those of their files, once they are on disk.
 * Race: the first of two tries of a file wins, even in one statement. The other finds the file stored and removes its
 *   own bytes. Repeated after a lost answer, a try finds its own bytes stored, by its number. Rows are locked in order,
 *   as above.
 * Index: file_pkey.
 */
const endStatement = statement('end_uploads')`WITH ended AS (
  SELECT id, file.state, ended.upload, ended.size, ended.sha256
  FROM unnest($1::uuid[], $2::smallint[], $3::bigint[], $4::bytea[]) AS ended (id, upload, size, sha256)
  JOIN file USING (id)
  WHERE file.state = 'initiated' OR file.state = 'stored' AND file.upload = ended.upload
  ORDER BY id
  FOR UPDATE OF file
), written AS (
  UPDATE file
  SET state = 'stored', upload = ended.upload, size = ended.size, sha256 = ended.sha256, stored_at = clock_timestamp()
  FROM ended
  WHERE file.id = ended.id AND ended.state = 'initiated'
  RETURNING file.id, file.upload
)
SELECT id, upload FROM written
UNION ALL
SELECT id, upload FROM ended WHERE state = 'stored'`;

/** Returns for each try whether its bytes are those of the file. */
export async function endUploads(database: Database, tries: readonly Content[]): Promise<boolean[]> {
  const rows = await database.query<{ id: string; upload: number }>(endStatement, [
    uuidArray(tries.map(({ id }) => id)),
    ...columnsOf(tries, 'upload', 'size', 'sha256'),
  ]);
  const stored = new Map(rows.map(({ id, upload }) => [id, upload]));
  return tries.map(({ id, upload }) => stored.get(id) === upload);
}
