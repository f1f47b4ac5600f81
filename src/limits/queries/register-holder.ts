import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { HolderBeat } from '../share-store.js';

/*
 * Purpose: makes a node known as a holder of shares, and reads which holders there are and which are gone.
 * Race: none; its id is new.
 * Index: limit_holder_pkey; the holders that are gone are found along limit_share_by_holder, one step a holder.
 */
const registerStatement: Statement = {
  name: 'register_holder',
  text: `WITH RECURSIVE registered AS (
  INSERT INTO limit_holder (id, node_id)
  VALUES ($1::uuid, $2::uuid)
), named (id) AS (
  SELECT min(holder_id::text)::uuid FROM (SELECT holder_id FROM limit_share ORDER BY holder_id LIMIT 1) AS first
  UNION ALL
  SELECT (SELECT holder_id FROM limit_share WHERE holder_id > named.id ORDER BY holder_id LIMIT 1)
  FROM named
  WHERE named.id IS NOT NULL
)
SELECT coalesce((SELECT json_agg(json_build_object('id', id, 'beat', beat)) FROM limit_holder WHERE id <> $1::uuid), '[]')
         AS holders,
       ARRAY (SELECT id::text FROM named WHERE id IS NOT NULL AND NOT EXISTS (
         SELECT FROM limit_holder WHERE limit_holder.id = named.id
       )) AS gone`,
};

export async function registerHolder(
  database: Database,
  holder: string,
  nodeId: string,
): Promise<{ holders: HolderBeat[]; gone: string[] }> {
  const [result] = await database.query<{ holders: HolderBeat[]; gone: string[] }>(registerStatement, [
    holder,
    nodeId,
  ]);
  return result!;
}
