import type { Database } from '../../../database/database.js';
import { statementOfDays } from '../../../database/days.js';
import type { RequestFacts } from '../runner.js';

/*
 * Purpose: reads what a model server may be sent about a request.
 * Race: none of the columns changes after the submission, except the name of the key.
 * Index: request_pkey, in the partition of its day; api_key_pkey.
 */
const factsStatement = statementOfDays(
  'read_request_facts',
  (within) => `SELECT coalesce(key.name, '') AS key,
       (ARRAY['high', 'normal', 'low'])[request.priority + 2] AS priority, request.tags
FROM request
LEFT JOIN api_key AS key ON key.id = request.api_key_id
WHERE request.id = $1::uuid AND ${within('request.id')}`,
);

/** undefined: there is no such request any more. */
export async function requestFacts(database: Database, requestId: string): Promise<RequestFacts | undefined> {
  const [row] = await database.query<{ key: string; priority: string; tags: readonly string[] | null }>(
    factsStatement(requestId),
    [requestId],
  );
  if (row === undefined) return undefined;
  const tags = (row.tags ?? []).map((tag): [string, string] => {
    const colon = tag.indexOf(':');
    return [tag.slice(0, colon), tag.slice(colon + 1)];
  });
  return { key: row.key, priority: row.priority, tags: new Map(tags) };
}
