import { type Queries, statement } from '../../database/statement.js';

/*
 * Purpose: since when there are API keys: nothing was submitted before.
 * Race: none; keys are never removed.
 * Index: none: it is read once a process.
 */
const firstKey = statement(
  'first_key',
)`SELECT extract(epoch FROM min(created_at))::float8 * 1000 AS "atMs" FROM api_key`;

/** Milliseconds since 1970; null: there is none. */
export async function firstKeyAtMs(database: Queries): Promise<number | null> {
  return (await database.query<{ atMs: number | null }>(firstKey))[0]!.atMs;
}
