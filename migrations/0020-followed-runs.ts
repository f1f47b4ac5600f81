import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The runs that go on at model servers without a connection, so that any node can follow or cancel them. */
export class FollowedRuns1790000000120 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE TABLE followed_run (
        request_id uuid NOT NULL,
        start integer NOT NULL,
        -- The attempt as a status counts it. The run is followed while this is the request's attempt.
        attempt integer NOT NULL,
        model_id text NOT NULL,
        -- Without user, password and query, which may be secrets.
        address text NOT NULL,
        answer json,
        began_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        is_given_up boolean NOT NULL DEFAULT false,
        cancel_tries smallint NOT NULL DEFAULT 0,
        cancel_after timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (request_id, start)
      )`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE followed_run`);
}
