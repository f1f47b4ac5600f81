import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Nodes record that they stop. A table without a replica identity could not be updated under a publication of all
 * tables.
 */
export class StoppingNodes1790000000114 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      -- A node that stops drains as well, so that an earlier release takes its slots over.
      ALTER TABLE node ADD COLUMN stopping_since timestamptz;
      -- The only table without a primary key; it has one row.
      ALTER TABLE key_change REPLICA IDENTITY FULL`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE key_change REPLICA IDENTITY DEFAULT;
      ALTER TABLE node DROP COLUMN stopping_since`);
}
