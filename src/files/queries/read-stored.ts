import { uuidArray } from '../../database/binary-array.js';
import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/** `files` includes announced files; `bytes` counts only stored ones. */
export interface Stored {
  files: number;
  bytes: number;
}

/*
 * Purpose: reads how much keys have stored. Triggers of file count it in the commit of each change.
 * Race: none (read only). Uploads under way are counted by their nodes.
 * Index: stored_files_pkey.
 */
const storedStatement = statement('read_stored_files')`SELECT api_key_id AS "keyId", files, bytes
FROM stored_files WHERE api_key_id = ANY ($1::uuid[])`;

/** Returns one per key, in the order of the keys. */
export async function readStored(database: Database, keyIds: readonly string[]): Promise<Stored[]> {
  const ids = [...new Set(keyIds)];
  const rows = await database.query<Stored & { keyId: string }>(storedStatement, [uuidArray(ids)]);
  const byKey = new Map(rows.map(({ keyId, files, bytes }) => [keyId, { files, bytes }]));
  return keyIds.map((id) => byKey.get(id) ?? { files: 0, bytes: 0 });
}
