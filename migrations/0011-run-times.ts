import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long the runs of each model take, for estimates. */
export class RunTimes1790000000021 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE TABLE run_times (
        model_id text PRIMARY KEY,
        -- About so many of the newest runs have the say.
        memory integer NOT NULL,
        runs double precision NOT NULL,
        -- By buckets of the logarithm, eight to a factor of two, from 1 ms on.
        weights double precision[] NOT NULL,
        sum_ms double precision NOT NULL,
        squares double precision NOT NULL
      ) WITH (fillfactor = 50)`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE run_times`);
}
