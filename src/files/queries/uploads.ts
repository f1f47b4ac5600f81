import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface FileRow {
  id: string;
  keyId: string;
  name: string;
  contentType: string;
  /** Tries that have begun. */
  uploads: number;
}

/*
 * Purpose: files that are to come; each goes after a day if no request has named it.
 * Race: none: nobody knows their ids yet. Repeated after an answer that was lost it finds its rows.
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
    files.map(({ name }) => name),
    files.map(({ contentType }) => contentType),
    files.map(({ uploads }) => uploads),
  ]);
}

const maxTries = 100;

/*
 * Purpose: tries to upload files: their numbers, by which their bytes are kept, before the first of them is written.
 * Race: two tries of a file get two numbers, and mix no bytes, also in one statement. What is written of a try that a
 *   crash ended is found by the count of tries when the file goes. The rows are locked in the order of their ids, so
 *   that two of these never wait for each other in a circle.
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

/** One try to upload a file, and whose the file is. */
export interface Try {
  number: number;
  keyId: string;
}

/** One for each file; undefined: it is stored, or gone, or was tried so often. */
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
 * Purpose: makes the bytes of tries their files', once they are on disk.
 * Race: of two tries of a file the first to come here wins, of two in one statement either; the other finds the file
 *   stored, and takes its bytes away. Repeated after an answer that was lost, it finds its own bytes stored, by the
 *   number of the try. Locked in order, as above.
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

/** For each try whether its bytes are the file's. */
export async function endUploads(database: Database, tries: readonly Content[]): Promise<boolean[]> {
  const rows = await database.query<{ id: string; upload: number }>(endStatement, [
    uuidArray(tries.map(({ id }) => id)),
    tries.map(({ upload }) => upload),
    tries.map(({ size }) => size),
    tries.map(({ sha256 }) => sha256),
  ]);
  const stored = new Map(rows.map(({ id, upload }) => [id, upload]));
  return tries.map(({ id, upload }) => stored.get(id) === upload);
}
