import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The calls of adapters that were closed while they waited for their requests, and files that keys keep. The names of
 * adapters are a list of the code alone, so that another one needs no migration.
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
      CREATE INDEX abandoned_call_due ON abandoned_call (cancel_at);

      ALTER TABLE file
        -- What a key keeps the file for, as its caller says; null: it is kept for requests only.
        ADD COLUMN purpose text,
        -- Until then, or until its key deletes it, the file stays without a request; infinity: for ever.
        ADD COLUMN kept_until timestamptz,
        -- Not validated, because no row has a value yet.
        ADD CONSTRAINT file_kept_for_a_purpose CHECK ((purpose IS NULL) = (kept_until IS NULL)) NOT VALID;
      CREATE INDEX file_kept ON file (api_key_id, created_at, id) WHERE purpose IS NOT NULL`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP INDEX file_kept;
      ALTER TABLE file DROP COLUMN kept_until, DROP COLUMN purpose;
      DROP TABLE abandoned_call;
      ALTER TABLE request ADD CONSTRAINT request_adapter_is_known CHECK (adapter IN ('fal')) NOT VALID`);
}
