import type { Database } from '../../database/database.js';
import type { Statement } from '../../database/statement.js';
import type { Model } from '../model.js';

/**
 * Copies the models file into the `model` table, where people's queries join it.
 * Nodes that start together write in the order of the ids, so none waits for another in a circle; a row
 * that is already right is not written. Models that left the file stay, as old requests name them.
 */
const saveModelsStatement: Statement = {
  name: 'save_models',
  text: `
    INSERT INTO model (id, description, runner, concurrency, timeout_ms, expires_ms, attempts)
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::int[], $6::bigint[], $7::int[])
      AS entry (id, description, runner, concurrency, timeout_ms, expires_ms, attempts)
    ORDER BY id
    ON CONFLICT (id) DO UPDATE
      SET description = excluded.description,
          runner = excluded.runner,
          concurrency = excluded.concurrency,
          timeout_ms = excluded.timeout_ms,
          expires_ms = excluded.expires_ms,
          attempts = excluded.attempts,
          updated_at = now()
      WHERE (model.description, model.runner, model.concurrency, model.timeout_ms, model.expires_ms, model.attempts)
        IS DISTINCT FROM (excluded.description, excluded.runner, excluded.concurrency, excluded.timeout_ms,
                          excluded.expires_ms, excluded.attempts)`,
};

export async function saveModels(database: Database, models: readonly Model[]): Promise<void> {
  await database.query(saveModelsStatement, toColumns(models));
}

/** One array a column of the table's copy. */
export function toColumns(models: readonly Model[]): unknown[][] {
  return [
    models.map(({ id }) => id),
    models.map(({ description }) => description),
    models.map(({ runner }) => (runner.kind === 'demo' ? `demo:${runner.demo}` : runner.kind)),
    models.map(({ concurrency }) => concurrency),
    models.map(({ timeoutMs }) => timeoutMs),
    models.map(({ expiresMs }) => expiresMs),
    models.map(({ attempts }) => attempts),
  ];
}
