import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Models: their definition in the models file, the operators' overrides, and how many runs they have and how long those
 * take.
 */
export class Models1790000000104 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE TABLE model (
        id text PRIMARY KEY,
        description text NOT NULL DEFAULT '',
        runner text NOT NULL,
        -- Of models that workers run it may be NULL: no bound.
        concurrency integer,
        timeout_ms integer NOT NULL,
        expires_ms bigint,
        attempts integer NOT NULL,
        queue_order text NOT NULL DEFAULT 'fair',
        updated_at timestamptz NOT NULL DEFAULT now(),
        concurrency_override integer,
        concurrency_overridden_at timestamptz,
        concurrency_overridden_by text,
        paused text,
        paused_at timestamptz,
        paused_by text,
        -- Grants of an earlier slot round start nothing: it rises with each change that takes slots away.
        slot_round integer NOT NULL DEFAULT 0,
        removed_at timestamptz,
        CONSTRAINT model_settings_are_positive
          CHECK (concurrency > 0 AND timeout_ms > 0 AND expires_ms > 0 AND attempts > 0),
        CONSTRAINT model_queue_order_is_known CHECK (queue_order IN ('fair', 'arrival')),
        CONSTRAINT model_concurrency_override_is_positive CHECK (concurrency_override > 0),
        CONSTRAINT model_paused_is_known CHECK (paused IN ('hold', 'reject'))
      );

      -- How long the runs of each model take, for estimates.
      CREATE TABLE run_times (
        model_id text PRIMARY KEY,
        -- About so many of the newest runs have the say.
        memory integer NOT NULL,
        runs double precision NOT NULL,
        -- By buckets of the logarithm, eight to a factor of two, from 1 ms on.
        weights double precision[] NOT NULL,
        sum_ms double precision NOT NULL,
        squares double precision NOT NULL
      ) WITH (fillfactor = 50);

      -- How many requests were started and ended in a minute, or on a day (UTC). Nodes add to it behind what happens.
      CREATE TABLE model_activity (
        span text NOT NULL,
        at timestamptz NOT NULL,
        model_id text NOT NULL,
        started bigint NOT NULL DEFAULT 0,
        completed bigint NOT NULL DEFAULT 0,
        failed bigint NOT NULL DEFAULT 0,
        PRIMARY KEY (span, at, model_id),
        CONSTRAINT model_activity_span_is_known CHECK (span IN ('minute', 'day')),
        CONSTRAINT model_activity_counts_are_not_negative CHECK (started >= 0 AND completed >= 0 AND failed >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE model_activity, run_times, model`);
}
