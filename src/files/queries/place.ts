import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

/*
 * Purpose: notes where files are kept, with the first of them; while there is none, the place may be another.
 * Race: of two nodes that note different places one wins, and the other learns which.
 * Index: file_place_pkey; file is looked at only where the places differ.
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

/** The place that holds, which may be another's. */
export async function establishPlace(database: Database, place: string): Promise<string> {
  for (;;) {
    const [row] = await database.query<{ place: string }>(establishStatement, [place]);
    // No row: another node's was written while this one looked.
    if (row !== undefined) return row.place;
  }
}

/*
 * Purpose: where the files are that there are; null: there are none.
 * Race: none; this is a look.
 * Index: one row; the first of file that is not removed.
 */
const readStatement = statement('read_file_place')`SELECT place FROM file_place
WHERE EXISTS (SELECT FROM file WHERE state <> 'removed')`;

export async function placeOfFiles(database: Database): Promise<string | undefined> {
  return (await database.query<{ place: string }>(readStatement))[0]?.place;
}
