import type { MigrationInterface, QueryRunner } from 'typeorm';

const columnsOfDepth = `model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             coalesce(model.concurrency_override, model.concurrency) AS concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, virtual_start, seq
                      LIMIT 1) AS front_has_waited,
             coalesce(delayed.held, 0) AS held,
             model.paused`;

const fromModels = `FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*), count(*) FILTER (WHERE ready_at = 'infinity') AS held
                 FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id
      WHERE model.removed_at IS NULL OR waiting.count > 0 OR delayed.count > 0 OR running.count > 0`;

/** Groups: models that share the slots of a GPU. */
export class Groups1790000000123 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE model
        ADD COLUMN group_id text,
        ADD COLUMN group_concurrency integer,
        ADD COLUMN group_stay_ms integer,
        ADD CONSTRAINT model_group_has_slots CHECK (
          num_nulls(group_id, group_concurrency, group_stay_ms) IN (0, 3) AND group_concurrency > 0 AND group_stay_ms >= 0
        );

      CREATE OR REPLACE VIEW queue_depth AS
      SELECT ${columnsOfDepth}, model.group_id
      ${fromModels};

      CREATE VIEW group_slots AS
      SELECT model.group_id,
             array_agg(model.id ORDER BY model.id) AS models,
             max(model.group_concurrency) AS concurrency,
             max(model.group_stay_ms) * interval '1 millisecond' AS stay,
             sum((SELECT count(*) FROM lease WHERE lease.model_id = model.id))::bigint AS running,
             sum((SELECT count(*) FROM queue_entry WHERE queue_entry.model_id = model.id))::bigint AS waiting
      FROM model
      WHERE model.group_id IS NOT NULL AND model.removed_at IS NULL
      GROUP BY model.group_id`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW group_slots;
      DROP VIEW queue_depth;
      CREATE VIEW queue_depth AS
      SELECT ${columnsOfDepth}
      ${fromModels};

      ALTER TABLE model DROP COLUMN group_stay_ms, DROP COLUMN group_concurrency, DROP COLUMN group_id`);
}
