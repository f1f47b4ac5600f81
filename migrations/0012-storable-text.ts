import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A JSON text may contain an escape of NUL or of a surrogate. Most contain none. */
const suspicious = (column: string): string => `${column}::text ~ '\\\\u(0000|[dD][89a-fA-F])'`;

/**
 * Replaces the escapes that PostgreSQL cannot store as text with U+FFFD. Escaped backslashes first become a control
 * character, which no JSON text contains. After that, every backslash begins an escape.
 */
const storable = (column: string): string => `replace(
    regexp_replace(
      regexp_replace(
        replace(replace(${column}::text, '\\\\', chr(1)), '\\u0000', '\\ufffd'),
        '\\\\u[dD][89abAB]..(?!\\\\u[dD][c-fC-F])', '\\\\ufffd', 'g'
      ),
      '(?<!\\\\u[dD][89abAB]..)\\\\u[dD][c-fC-F]..', '\\\\ufffd', 'g'
    ),
    chr(1), '\\\\'
  )::json`;

/** An UPDATE of only those rows that contain such escapes. */
const mend = (table: string, columns: readonly string[], where: string): string => `UPDATE ${table}
SET ${columns.map((column) => `${column} = ${storable(column)}`).join(',\n  ')}
WHERE ${where}(${columns.map(suspicious).join(' OR ')})
  AND (${columns.map((column) => `${storable(column)}::text IS DISTINCT FROM ${column}::text`).join(' OR ')})`;

/** Rows of a day's table that one statement updates. */
const batchSize = 10_000;
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Repairs rows stored before texts of models and workers were cleaned: outputs, errors and the parts of streamed
 * outputs. Statements that read their members failed on them. Inputs with such a text were always refused, and no other
 * column type accepts one.
 * Every batch is its own commit, so that no lock or snapshot is held for long. A second run reads all rows and changes
 * none.
 */
export class StorableText1790000000112 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    for (const table of await partitionsOf(db, 'request')) {
      for (let after: string | null = firstId; ;) {
        const last: string | null = await lastOfBatch(db, table, after);
        if (last === null) break;
        await db.query(mend(table, ['output', 'error'], 'id > $1::uuid AND id <= $2::uuid AND '), [
          after,
          last,
        ]);
        after = last;
      }
    }
    for (const table of await partitionsOf(db, 'output_delta')) await db.query(mend(table, ['delta'], ''));
  }

  /** Repaired rows stay as they are. */
  down = (): Promise<void> => Promise.resolve();
}

async function partitionsOf(db: QueryRunner, parent: string): Promise<string[]> {
  const rows = (await db.query(
    `SELECT relid::regclass::text AS "table" FROM pg_partition_tree('${parent}') WHERE isleaf ORDER BY 1`,
  )) as { table: string }[] | undefined;
  return rows?.map(({ table }) => table) ?? [];
}

async function lastOfBatch(db: QueryRunner, table: string, after: string): Promise<string | null> {
  const [row] = (await db.query(
    `SELECT id FROM (SELECT id FROM ${table} WHERE id > $1::uuid ORDER BY id LIMIT ${batchSize}) AS batch
     ORDER BY id DESC LIMIT 1`,
    [after],
  )) as { id: string }[];
  return row?.id ?? null;
}
