import type { MigrationInterface, QueryRunner } from 'typeorm';

/** An operation finds its members step by step, after it was started. */
export class Collecting1790000000035 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE operation
        -- The last request that was looked at: all newer ones were, too.
        ADD COLUMN collected_to uuid,
        ALTER COLUMN state SET DEFAULT 'collecting',
        ALTER COLUMN total SET DEFAULT 0,
        DROP CONSTRAINT operation_state_is_known,
        ADD CONSTRAINT operation_state_is_known
          CHECK (state IN ('collecting', 'running', 'stopping', 'stopped', 'done'))`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- What was found is dealt with, the rest is not.
      UPDATE operation SET state = 'running' WHERE state = 'collecting';
      ALTER TABLE operation
        DROP COLUMN collected_to,
        ALTER COLUMN state SET DEFAULT 'running',
        ALTER COLUMN total DROP DEFAULT,
        DROP CONSTRAINT operation_state_is_known,
        ADD CONSTRAINT operation_state_is_known CHECK (state IN ('running', 'stopping', 'stopped', 'done'))`);
}
