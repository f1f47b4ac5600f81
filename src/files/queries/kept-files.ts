import type { Database } from '../../database/database.js';
import { type Queries, statement } from '../../database/statement.js';

/** A file that its key keeps, whether a request names it or not. */
export interface KeptFile {
  id: string;
  name: string;
  contentType: string;
  size: number;
  sha256: Buffer;
  purpose: string;
  createdAt: Date;
  /** null: it is kept until it is deleted. */
  keptUntil: Date | null;
}

const columns = `id, name, content_type AS "contentType", size, sha256, purpose, created_at AS "createdAt",
       CASE WHEN isfinite(kept_until) THEN kept_until END AS "keptUntil"`;

/*
 * Purpose: makes a stored file one that its key keeps.
 * Race: the file was stored a moment ago, so that the pruner does not look at it for a day.
 * Index: file_pkey.
 */
const keepStatement = statement('keep_file')`UPDATE file
SET purpose = $2::text,
    kept_until = coalesce(created_at + $3::float8 * interval '1 second', 'infinity'),
    expires_at = created_at + $3::float8 * interval '1 second'
WHERE id = $1::uuid AND state = 'stored'
RETURNING ${columns}`;

/** `seconds`: how long it is kept after its creation. null: until it is deleted. */
export async function keepFile(
  database: Database,
  id: string,
  purpose: string,
  seconds: number | null,
): Promise<KeptFile | undefined> {
  return (await database.query<KeptFile>(keepStatement, [id, purpose, seconds]))[0];
}

/*
 * Purpose: reads a file that a key keeps.
 * Race: none (read only).
 * Index: file_pkey.
 */
const findStatement = statement('find_kept_file')`SELECT ${columns}
FROM file
WHERE id = $1::uuid AND api_key_id = $2::uuid AND state = 'stored' AND kept_until > clock_timestamp()`;

export async function findKeptFile(
  database: Database,
  id: string,
  keyId: string,
): Promise<KeptFile | undefined> {
  return (await database.query<KeptFile>(findStatement, [id, keyId]))[0];
}

export interface KeptFilesPage {
  keyId: string;
  /** null: any. */
  purpose: string | null;
  /** The id of the last file of the page before. null: the first page. */
  after: string | null;
  newestFirst: boolean;
  limit: number;
}

/*
 * Purpose: lists files that a key keeps, in the order of their creation. A page continues after a file even if that file
 *   was deleted meanwhile, as long as its row exists.
 * Race: none (read only).
 * Index: file_kept, from the place of the file on.
 */
const listOf = (order: 'asc' | 'desc'): ReturnType<ReturnType<typeof statement>> => {
  const [sign, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
  return statement(`list_kept_files_${order}`)`SELECT ${columns}
FROM file
WHERE api_key_id = $1::uuid AND purpose IS NOT NULL AND state = 'stored' AND kept_until > clock_timestamp()
  AND ($2::text IS NULL OR purpose = $2::text)
  AND ($3::uuid IS NULL OR (created_at, id) ${sign} (
    SELECT created_at, id FROM file WHERE id = $3::uuid AND api_key_id = $1::uuid
  ))
ORDER BY created_at ${direction}, id ${direction}
LIMIT $4::integer`;
};

const listStatements = { asc: listOf('asc'), desc: listOf('desc') };

export function listKeptFiles(
  database: Database,
  { keyId, purpose, after, newestFirst, limit }: KeptFilesPage,
): Promise<KeptFile[]> {
  const list = listStatements[newestFirst ? 'desc' : 'asc'];
  return database.query<KeptFile>(list, [keyId, purpose, after, limit]);
}

/*
 * Purpose: tells an end of the list from a file that is no place in it.
 * Race: none (read only).
 * Index: file_pkey.
 */
const placeStatement = statement('place_of_file')`SELECT id FROM file
WHERE id = $1::uuid AND api_key_id = $2::uuid`;

/** Returns whether a page can continue after a file. */
export async function isPlaceOfFile(database: Database, id: string, keyId: string): Promise<boolean> {
  return (await database.query<{ id: string }>(placeStatement, [id, keyId])).length > 0;
}

/*
 * Purpose: deletes a file that a key keeps. Requests that name it still find it. The pruner removes it after that.
 * Race: of two deletions one finds it.
 * Index: file_pkey.
 */
const deleteStatement = statement('delete_kept_file')`UPDATE file
SET purpose = NULL, kept_until = NULL, expires_at = clock_timestamp()
WHERE id = $1::uuid AND api_key_id = $2::uuid AND state = 'stored' AND kept_until > clock_timestamp()
RETURNING id`;

/** Returns false if there is no such file. */
export async function deleteKeptFile(queries: Queries, id: string, keyId: string): Promise<boolean> {
  return (await queries.query<{ id: string }>(deleteStatement, [id, keyId])).length > 0;
}
