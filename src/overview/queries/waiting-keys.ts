import type { Database } from '../../database/database.js';
import { statement } from '../../database/statement.js';

export interface KeyName {
  keyId: string;
  /** null: the key was removed. */
  name: string | null;
}

/** The requests of a key among those at the front of a queue. */
export interface KeyAtFront extends KeyName {
  modelId: string;
  waiting: number;
}

/** At most this many requests of each queue are counted. */
export const frontSize = 1_000;

const front = (table: string, condition = ''): string => `
    (SELECT priority, virtual_start, seq, api_key_id FROM ${table}
     WHERE model_id = asked.model_id${condition}
     ORDER BY priority, virtual_start, seq LIMIT ${frontSize})`;

/*
 * Purpose: counts the requests of each key at the front of several queues.
 * Race: none (read only).
 * Index: queue_entry_pkey and delayed_entry_in_queue, in their order.
 */
const keysAtFront = statement(
  'keys_at_front',
)`SELECT asked.model_id AS "modelId", first.api_key_id AS "keyId",
  api_key.name, count(*)::integer AS waiting
FROM unnest($1::text[]) AS asked (model_id)
CROSS JOIN LATERAL (
  SELECT api_key_id
  FROM (${front('queue_entry')}
    UNION ALL${front('delayed_entry', ' AND NOT is_scheduled')}
  ) AS entry
  ORDER BY priority, virtual_start, seq LIMIT ${String(frontSize)}
) AS first
LEFT JOIN api_key ON api_key.id = first.api_key_id
GROUP BY asked.model_id, first.api_key_id, api_key.name`;

export function readKeysAtFront(database: Database, modelIds: readonly string[]): Promise<KeyAtFront[]> {
  return database.query<KeyAtFront>(keysAtFront, [modelIds]);
}

const namesStatement = statement('names_of_order_keys')`SELECT id AS "keyId", name, "orderKey"
FROM (SELECT id, name, ('x' || right(id::text, 12))::bit(48)::bigint AS "orderKey" FROM api_key) AS key
WHERE "orderKey" = ANY ($1::bigint[])`;

/** Returns the keys for which `orderKeyOf` gives these numbers. */
export async function readKeyNames(
  database: Database,
  orderKeys: readonly number[],
): Promise<Map<number, KeyName>> {
  const rows = await database.query<KeyName & { orderKey: number }>(namesStatement, [orderKeys]);
  return new Map(rows.map(({ orderKey, ...key }) => [orderKey, key]));
}
