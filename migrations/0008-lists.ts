import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The lists of a key's requests, newest first. */
export class Lists1790000000018 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`CREATE INDEX request_by_key ON request (api_key_id, id)`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP INDEX request_by_key`);
}
