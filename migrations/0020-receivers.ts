import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators see of webhooks: what was given up, and what each receiver answers. */
export class Receivers1790000000030 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Only of what failed: a delivery that arrives costs no entry. All others are found by the keys of their requests.
      CREATE INDEX webhook_delivery_given_up ON webhook_delivery (request_id, id) WHERE state IN ('failed', 'ended');

      -- What an hour of tries came to, for each endpoint of a key, and for each host of URLs that requests named
      -- (endpoint_id is then all zeros). Written with the tries.
      CREATE TABLE receiver_activity (
        endpoint_id uuid NOT NULL,
        host text COLLATE "C" NOT NULL,
        hour timestamptz NOT NULL,
        delivered bigint NOT NULL DEFAULT 0,
        given_up bigint NOT NULL DEFAULT 0,
        failed_tries bigint NOT NULL DEFAULT 0,
        last_try jsonb NOT NULL,
        PRIMARY KEY (endpoint_id, host, hour),
        CONSTRAINT receiver_activity_counts_are_not_negative
          CHECK (delivered >= 0 AND given_up >= 0 AND failed_tries >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
      CREATE INDEX receiver_activity_by_hour ON receiver_activity (hour)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE receiver_activity;
      DROP INDEX webhook_delivery_given_up`);
}
