import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How many runs of a model a key may have at once, and what each key gets of it. */
export class KeyBounds1790000000022 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE api_key
        ADD COLUMN max_running integer,
        ADD COLUMN bounded_at timestamptz,
        ADD CONSTRAINT api_key_max_running_is_positive CHECK (max_running > 0);
      CREATE INDEX api_key_by_bounded_at ON api_key (bounded_at) WHERE bounded_at IS NOT NULL;

      -- Whose bound it counts against. Only these are in the indexes, so that nobody else pays for a bound.
      ALTER TABLE queue_entry ADD COLUMN bounded_key_id uuid;
      ALTER TABLE lease ADD COLUMN bounded_key_id uuid;
      ALTER TABLE delayed_entry ADD COLUMN bounded_key_id uuid;
      CREATE INDEX queue_entry_bounded ON queue_entry (bounded_key_id, model_id) WHERE bounded_key_id IS NOT NULL;
      CREATE INDEX lease_bounded ON lease (bounded_key_id, model_id) WHERE bounded_key_id IS NOT NULL;
      CREATE INDEX delayed_entry_bounded ON delayed_entry (bounded_key_id, model_id)
        WHERE bounded_key_id IS NOT NULL AND ready_at < 'infinity' AND NOT is_scheduled;

      -- Held, for its key is at its bound: ready_at is infinity. It keeps its place, and no claim looks there.
      ALTER TABLE delayed_entry ADD CONSTRAINT delayed_entry_only_a_bound_holds
        CHECK (ready_at < 'infinity' OR (bounded_key_id IS NOT NULL AND NOT is_scheduled));
      CREATE INDEX delayed_entry_held ON delayed_entry (bounded_key_id, model_id, priority, virtual_start, seq)
        WHERE ready_at = 'infinity';

      CREATE OR REPLACE VIEW queue_depth AS
      SELECT model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             model.concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, virtual_start, seq
                      LIMIT 1) AS front_has_waited,
             coalesce(delayed.held, 0) AS held
      FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*), count(*) FILTER (WHERE ready_at = 'infinity') AS held
                 FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id;

      CREATE VIEW key_shares AS
      WITH waiting AS (
        SELECT model_id, api_key_id, count(*) AS waiting, count(*) FILTER (WHERE is_held) AS held
        FROM (SELECT model_id, api_key_id, false AS is_held FROM queue_entry
              UNION ALL
              SELECT model_id, api_key_id, ready_at = 'infinity' FROM delayed_entry WHERE NOT is_scheduled) AS entry
        GROUP BY model_id, api_key_id
      ), run AS (
        SELECT request.model_id, request.api_key_id, lease.started_at, clock_timestamp() AS ended_at, true AS is_running
        FROM lease
        JOIN request ON request.id = lease.request_id
        UNION ALL
        SELECT request.model_id, request.api_key_id, attempt.started_at, attempt.ended_at, false
        FROM attempt
        JOIN request ON request.id = attempt.request_id
        WHERE attempt.request_id >= uuid_at(now() - interval '1 day')
          AND attempt.ended_at > now() - interval '1 hour'
      ), used AS (
        SELECT model_id, api_key_id,
               count(*) FILTER (WHERE is_running) AS running,
               count(*) FILTER (WHERE started_at > now() - interval '1 hour') AS starts_last_hour,
               sum(extract(epoch FROM ended_at - greatest(started_at, now() - interval '1 hour'))) AS run_seconds
        FROM run
        GROUP BY model_id, api_key_id
      )
      SELECT model_id, api_key_id, api_key.name AS key_name, api_key.weight, api_key.max_running,
             coalesce(waiting.waiting, 0) AS waiting,
             coalesce(waiting.held, 0) AS held,
             coalesce(used.running, 0) AS running,
             coalesce(round(used.running / nullif(sum(used.running) OVER of_model, 0), 3), 0) AS share_now,
             coalesce(used.starts_last_hour, 0) AS starts_last_hour,
             coalesce(round(used.run_seconds, 3), 0) AS run_seconds_last_hour,
             coalesce(round(used.run_seconds / nullif(sum(used.run_seconds) OVER of_model, 0), 3), 0)
               AS share_last_hour
      FROM waiting
      FULL JOIN used USING (model_id, api_key_id)
      LEFT JOIN api_key ON api_key.id = api_key_id
      WINDOW of_model AS (PARTITION BY model_id)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW key_shares, queue_depth;
      CREATE VIEW queue_depth AS
      SELECT model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             model.concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, seq
                      LIMIT 1) AS front_has_waited
      FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id;

      UPDATE delayed_entry SET ready_at = now() WHERE ready_at = 'infinity';
      ALTER TABLE delayed_entry DROP CONSTRAINT delayed_entry_only_a_bound_holds, DROP COLUMN bounded_key_id;
      ALTER TABLE lease DROP COLUMN bounded_key_id;
      ALTER TABLE queue_entry DROP COLUMN bounded_key_id;
      ALTER TABLE api_key DROP COLUMN bounded_at, DROP COLUMN max_running`);
}
