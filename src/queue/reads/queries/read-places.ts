import type { Database } from '../../../database/database.js';
import { statementOfDays } from '../../../database/days.js';

/*
 * Purpose: reads how far the output of a request was read by calls that do not say it.
 * Race: a call that reads at the same time may move it. `move_read_place` finds that.
 * Index: request_pkey, in the partition of the id's day.
 */
const placeStatement = statementOfDays(
  'read_place',
  (within) => `SELECT output_read_to AS place FROM request WHERE id = $1::uuid AND ${within('id')}`,
);

/** null: nothing was read. */
export async function readPlace(database: Database, requestId: string): Promise<string | null> {
  const [row] = await database.query<{ place: string | null }>(placeStatement(requestId), [requestId]);
  return row?.place ?? null;
}

/*
 * Purpose: moves the place up to which the output of a request was read from $2 to $3.
 * Race: of several calls that read from one place, the first one moves it. The others change nothing.
 * Index: request_pkey, in the partition of the id's day. The column is in no index, so the row stays where it is.
 */
const moveStatement = statementOfDays(
  'move_read_place',
  (within) => `UPDATE request SET output_read_to = $3::text
WHERE id = $1::uuid AND ${within('id')} AND output_read_to IS NOT DISTINCT FROM $2::text
RETURNING id`,
);

/** Returns false if the place is not `from` any more. */
export async function moveReadPlace(
  database: Database,
  requestId: string,
  from: string | null,
  to: string,
): Promise<boolean> {
  return (await database.query(moveStatement(requestId), [requestId, from, to])).length > 0;
}
