import type { Repository } from 'typeorm';
import type { ModelEntity } from '../model.entity.js';

export type ModelRow = Pick<
  ModelEntity,
  | 'id'
  | 'description'
  | 'runner'
  | 'concurrency'
  | 'timeoutMs'
  | 'expiresMs'
  | 'attempts'
  | 'order'
  | 'groupId'
  | 'groupConcurrency'
  | 'groupStayMs'
  | 'reserveHigh'
  | 'reserveNormal'
>;

/**
 * Finds models with other options, only in this file, or only elsewhere (other nodes run them, so they have slots).
 * Without other nodes, a difference is a change of the file. Nodes that start at the same moment may not see each other
 * yet.
 */
const findDifferencesText = `
    WITH entry AS (
      SELECT *
      FROM jsonb_to_recordset($1::jsonb) AS entry (id text, description text, runner text, concurrency int,
                                                   "timeoutMs" int, "expiresMs" bigint, attempts int, "order" text,
                                                   "groupId" text, "groupConcurrency" int, "groupStayMs" int,
                                                   "reserveHigh" int, "reserveNormal" int)
    ), different AS (
      SELECT entry.id
      FROM entry
      LEFT JOIN model ON model.id = entry.id
      WHERE (model.description, model.runner, model.concurrency, model.timeout_ms, model.expires_ms, model.attempts,
             model.queue_order, model.group_id, model.group_concurrency, model.group_stay_ms,
             model.reserve_high, model.reserve_normal)
        IS DISTINCT FROM (entry.description, entry.runner, entry.concurrency, entry."timeoutMs", entry."expiresMs",
                          entry.attempts, entry."order", entry."groupId", entry."groupConcurrency", entry."groupStayMs",
                          entry."reserveHigh", entry."reserveNormal")
      UNION
      SELECT model_id
      FROM slot_grant
      WHERE model_id NOT IN (SELECT id FROM entry)
    )
    SELECT id
    FROM different
    WHERE EXISTS (SELECT FROM node WHERE heartbeat_at > clock_timestamp() - interval '6 seconds')
    ORDER BY id`;

export async function findDifferences(
  table: Repository<ModelEntity>,
  models: readonly ModelRow[],
): Promise<string[]> {
  const rows = await table.query<{ id: string }[]>(findDifferencesText, [JSON.stringify(models)]);
  return rows.map(({ id }) => id);
}
