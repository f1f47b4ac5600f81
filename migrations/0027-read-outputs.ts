import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far the output of a request was read by calls that do not say it, and the URL that is called when it starts. */
export class ReadOutputs1790000000127 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE request ADD COLUMN output_read_to text, ADD COLUMN start_webhook_url text;

      CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW recent_request;
      ALTER TABLE request DROP COLUMN start_webhook_url, DROP COLUMN output_read_to;

      CREATE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);
}
