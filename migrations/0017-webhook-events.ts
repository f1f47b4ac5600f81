import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A delivery names its event, and an endpoint the events that it gets. The defaults are what an earlier release does,
 * which writes neither. A constant default rewrites no row.
 */
export class WebhookEvents1790000000117 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE webhook_delivery ADD COLUMN event text NOT NULL DEFAULT 'request.completed';
      ALTER TABLE webhook_endpoint ADD COLUMN events text[] NOT NULL DEFAULT '{request.completed}'`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE webhook_endpoint DROP COLUMN events;
      ALTER TABLE webhook_delivery DROP COLUMN event`);
}
