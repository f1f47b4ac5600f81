import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The front of a queue is found however many requests are scheduled for later. */
export class Unscheduled1790000000036 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE INDEX delayed_entry_in_queue ON delayed_entry (model_id, priority, virtual_start, seq)
      WHERE NOT is_scheduled`);

  down = (db: QueryRunner): Promise<unknown> => db.query('DROP INDEX delayed_entry_in_queue');
}
