import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an adapter has to know of a request when it is over. */
export class Adapters1790000000019 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE request
        ADD COLUMN adapter text,
        ADD COLUMN has_own_expiry boolean,
        ADD CONSTRAINT request_adapter_is_known CHECK (adapter IN ('fal'))`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`ALTER TABLE request DROP COLUMN has_own_expiry, DROP COLUMN adapter`);
}
