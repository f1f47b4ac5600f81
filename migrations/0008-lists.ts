import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The lists of a key's requests, newest first. The condition is always true, but only a query by a key implies it: for
 * one by id alone the planner cannot take this index, as it would where statistics say that a day is empty.
 */
export class Lists1790000000018 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`CREATE INDEX request_by_key ON request (api_key_id, id) WHERE api_key_id IS NOT NULL`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP INDEX request_by_key`);
}
