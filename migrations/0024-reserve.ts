import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Slots of a model that are kept for a priority or above. */
export class Reserve1790000000124 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE model
        ADD COLUMN reserve_high integer NOT NULL DEFAULT 0,
        ADD COLUMN reserve_normal integer NOT NULL DEFAULT 0,
        ADD CONSTRAINT model_reserve_is_not_negative CHECK (reserve_high >= 0 AND reserve_normal >= 0);
      -- The part of its slots that runs below a priority may use. NULL: all, because none is reserved.
      ALTER TABLE slot_grant
        ADD COLUMN below_high integer,
        ADD COLUMN below_normal integer`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE slot_grant DROP COLUMN below_normal, DROP COLUMN below_high;
      ALTER TABLE model DROP COLUMN reserve_normal, DROP COLUMN reserve_high`);
}
