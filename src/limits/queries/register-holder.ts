import type { Statement } from '../../database/statement.js';

/*
 * Purpose: makes a node known as a holder of shares, and reads which holders there are and which are gone.
 * Race: none; its id is new.
 * Index: limit_holder_pkey; the holders that are gone are found by reading limit_share, once a start.
 */
export const registerStatement: Statement = {
  name: 'register_holder',
  text: `WITH registered AS (
  INSERT INTO limit_holder (id)
  VALUES ($1::uuid)
)
SELECT coalesce((SELECT json_agg(json_build_object('id', id, 'beat', beat)) FROM limit_holder WHERE id <> $1::uuid), '[]')
         AS holders,
       ARRAY (
         SELECT DISTINCT holder_id::text
         FROM limit_share
         WHERE holder_id NOT IN (SELECT id FROM limit_holder)
       ) AS gone`,
};
