import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { ModelEntity } from '../model.entity.js';

export type ModelRow = Omit<ModelEntity, 'updatedAt'>;

/**
 * Which models other nodes have otherwise than this file, as far as the `model` table copies them: with other
 * options, only here, or only there (they run it, so it has slots). Without other nodes a difference is a change
 * of the file. Nodes that start in the same instant may not see each other yet.
 */
const findDifferencesStatement: Statement = {
  name: 'find_model_differences',
  text: `
    WITH entry AS (
      SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::bigint[], $7::int[])
        AS entry (id, description, runner, concurrency, timeout_ms, expires_ms, attempts)
    ), different AS (
      SELECT entry.id
      FROM entry
      LEFT JOIN model ON model.id = entry.id
      WHERE (model.description, model.runner, model.concurrency, model.timeout_ms, model.expires_ms, model.attempts)
        IS DISTINCT FROM (entry.description, entry.runner, entry.concurrency, entry.timeout_ms, entry.expires_ms,
                          entry.attempts)
      UNION
      SELECT model_id
      FROM slot_grant
      WHERE model_id <> ALL ($1::text[])
    )
    SELECT id
    FROM different
    WHERE EXISTS (SELECT FROM node WHERE heartbeat_at > clock_timestamp() - interval '6 seconds')
    ORDER BY id`,
};

export async function findDifferences(database: Database, models: readonly ModelRow[]): Promise<string[]> {
  const rows = await database.query<{ id: string }>(findDifferencesStatement, [
    models.map(({ id }) => id),
    models.map(({ description }) => description),
    models.map(({ runner }) => runner),
    models.map(({ concurrency }) => concurrency),
    models.map(({ timeoutMs }) => timeoutMs),
    models.map(({ expiresMs }) => expiresMs),
    models.map(({ attempts }) => attempts),
  ]);
  return rows.map(({ id }) => id);
}
