import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The calls of adapters that were closed while they waited for their requests. The names of adapters are a list of the
 * code alone, so that another one needs no migration.
 */
export class Adapters1790000000126 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE request DROP CONSTRAINT request_adapter_is_known;

      CREATE TABLE abandoned_call (
        request_id uuid PRIMARY KEY,
        api_key_id uuid NOT NULL,
        -- A hash of the model, the body and the options. A repetition of the call has the same.
        fingerprint bytea NOT NULL,
        -- The request is cancelled then, unless a repetition of the call has taken it up.
        cancel_at timestamptz NOT NULL
      );
      CREATE INDEX abandoned_call_by_body ON abandoned_call (api_key_id, fingerprint);
      CREATE INDEX abandoned_call_due ON abandoned_call (cancel_at)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE abandoned_call;
      ALTER TABLE request ADD CONSTRAINT request_adapter_is_known CHECK (adapter IN ('fal')) NOT VALID`);
}
