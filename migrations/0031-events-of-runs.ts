import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks about runs: the events that a request's URL gets, and what a delivery says. Times at which requests end. */
export class EventsOfRuns1790000000131 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      -- The events that start_webhook_url gets; null: request.started, as an earlier release writes it.
      ALTER TABLE request ADD COLUMN run_webhook_events text[];
      -- What is known of an event only when it happens.
      ALTER TABLE webhook_delivery ADD COLUMN content jsonb;

      CREATE TABLE planned_cancel (
        request_id uuid PRIMARY KEY,
        cancel_at timestamptz NOT NULL
      );
      CREATE INDEX planned_cancel_due ON planned_cancel (cancel_at);

      CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE planned_cancel;
      ALTER TABLE webhook_delivery DROP COLUMN content;
      DROP VIEW recent_request;
      ALTER TABLE request DROP COLUMN run_webhook_events;

      CREATE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);
}
