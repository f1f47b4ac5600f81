import type { Database } from '../../../database/database.js';
import { statementOfDays } from '../../../database/days.js';

export type PayloadColumn = 'input' | 'output';

/** A statement for each of the two columns. */
const ofColumns = <Made>(make: (column: PayloadColumn) => Made): Record<PayloadColumn, Made> => ({
  input: make('input'),
  output: make('output'),
});

/*
 * Purpose: reads a payload that is small on disk, and the size of any, which is known without reading it. Selected as
 *   text: parsed and written again, its numbers could change.
 * Race: none: a payload does not change until it is deleted. So do the next two.
 * Index: request_pkey, in the partition of one day.
 */
const smallStatements = ofColumns((column) =>
  statementOfDays(
    `read_small_${column}_of`,
    (within) => `SELECT pg_column_size(${column}) AS "storedBytes",
  CASE WHEN pg_column_size(${column}) <= $2::integer THEN ${column}::text END AS text
FROM request
WHERE id = $1::uuid AND ${within('id')}`,
  ),
);

const lengthStatements = ofColumns((column) =>
  statementOfDays(
    `read_length_of_${column}`,
    (within) =>
      `SELECT octet_length(${column}::text) AS bytes FROM request WHERE id = $1::uuid AND ${within('id')}`,
  ),
);

const textStatements = ofColumns((column) =>
  statementOfDays(
    `read_text_of_${column}`,
    (within) => `SELECT ${column}::text AS text FROM request WHERE id = $1::uuid AND ${within('id')}`,
  ),
);

/** JSON text; null: it is larger than `maxBytes` on disk. undefined: there is no payload. */
export async function readSmallPayload(
  database: Database,
  column: PayloadColumn,
  requestId: string,
  maxBytes: number,
): Promise<string | null | undefined> {
  const [row] = await database.query<{ storedBytes: number | null; text: string | null }>(
    smallStatements[column](requestId),
    [requestId, maxBytes],
  );
  return row === undefined || row.storedBytes === null ? undefined : row.text;
}

/** The bytes of its JSON text. undefined: there is no payload. */
export async function payloadLength(
  database: Database,
  column: PayloadColumn,
  requestId: string,
): Promise<number | undefined> {
  const [row] = await database.query<{ bytes: number | null }>(lengthStatements[column](requestId), [
    requestId,
  ]);
  return row?.bytes ?? undefined;
}

/** JSON text. undefined: there is no payload. */
export async function readPayloadText(
  database: Database,
  column: PayloadColumn,
  requestId: string,
): Promise<string | undefined> {
  const [row] = await database.query<{ text: string | null }>(textStatements[column](requestId), [requestId]);
  return row?.text ?? undefined;
}
