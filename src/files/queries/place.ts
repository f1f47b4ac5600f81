import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/*
 * Purpose: notes where files are kept, before the first of them. While there is no file, the place may change.
 * Race: if two nodes note different places, one wins and the other learns which.
 * Index: file_place_pkey. The table file is read only if the places differ.
 */
const establishStatement = statement('establish_file_place')`WITH established AS (
  INSERT INTO file_place AS known (place) VALUES ($1::text)
  ON CONFLICT (is_only) DO UPDATE SET place = excluded.place
    WHERE known.place <> excluded.place AND NOT EXISTS (SELECT FROM file)
  RETURNING place
)
SELECT place FROM established
UNION ALL
SELECT place FROM file_place WHERE NOT EXISTS (SELECT FROM established)`;

/** Returns the place that holds, which may be that of another node. */
export async function establishPlace(database: Database, place: string): Promise<string> {
  for (;;) {
    const [row] = await database.query<{ place: string }>(establishStatement, [place]);
    // No row: another node wrote its place during the statement.
    if (row !== undefined) return row.place;
  }
}

/*
 * Purpose: reads where the existing files are; no row: there are none.
 * Race: none (read only).
 * Index: one row; the first row of file that is not removed.
 */
const readStatement = statement('read_file_place')`SELECT place FROM file_place
WHERE EXISTS (SELECT FROM file WHERE state <> 'removed')`;

export async function placeOfFiles(database: Database): Promise<string | undefined> {
  return (await database.query<{ place: string }>(readStatement))[0]?.place;
}
