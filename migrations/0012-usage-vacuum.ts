import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A caller's row goes to a new page now and then, when others still look at all its versions on the old one; of one
 * busy caller that is a page every five seconds, and never as many dead rows at once as the old threshold wanted.
 */
export class UsageVacuum1780000000012 implements MigrationInterface {
  name = 'UsageVacuum1780000000012';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE rate_usage SET (autovacuum_vacuum_threshold = 20)`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`ALTER TABLE rate_usage SET (autovacuum_vacuum_threshold = 500)`);
  }
}
