import { type Queries, statement } from '../../../database/statement.js';

/*
 * Purpose: reads since when there are API keys: nothing was submitted before.
 * Race: none; keys are never deleted.
 * Index: none; it is read once per process.
 */
const firstKey = statement(
  'first_key',
)`SELECT extract(epoch FROM min(created_at))::float8 * 1000 AS "atMs" FROM api_key`;

/** Milliseconds since 1970; null: there is no key. */
export async function firstKeyAtMs(database: Queries): Promise<number | null> {
  return (await database.query<{ atMs: number | null }>(firstKey))[0]!.atMs;
}
