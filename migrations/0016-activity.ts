import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the console shows of the last hour and of today, and which version a node runs. */
export class Activity1790000000026 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE node ADD COLUMN version text;

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

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE model_activity;
      ALTER TABLE node DROP COLUMN version`);
}
