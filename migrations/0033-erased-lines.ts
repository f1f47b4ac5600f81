import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Requests of batches whose content was erased after it may have been written to a file of their batch. */
export class ErasedLines1790000000133 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      CREATE TABLE erased_line (
        batch_id uuid NOT NULL,
        request_id uuid NOT NULL,
        -- The segments that had its line have been written anew without it.
        is_gone boolean NOT NULL DEFAULT false,
        PRIMARY KEY (batch_id, request_id)
      );
      CREATE INDEX erased_line_left ON erased_line (batch_id) WHERE NOT is_gone`);

  down = (db: QueryRunner): Promise<unknown> => db.query('DROP TABLE erased_line');
}
