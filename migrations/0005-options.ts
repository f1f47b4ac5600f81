import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a submission may say besides its input, whose it is while it waits, and what bounds a key. */
export class Options1790000000015 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE request
        ADD COLUMN timeout_ms integer,
        ADD COLUMN not_before timestamptz,
        ADD COLUMN tags text[],
        ADD COLUMN webhook_url text,
        ADD COLUMN base_url text,
        ADD COLUMN retry_of uuid,
        ADD COLUMN retried_as uuid,
        ADD COLUMN erased_at timestamptz;

      ALTER TABLE queue_entry ADD COLUMN api_key_id uuid;
      ALTER TABLE delayed_entry
        ADD COLUMN api_key_id uuid,
        ADD COLUMN is_scheduled boolean NOT NULL DEFAULT false;

      -- A deadline of its own may lie before those of requests that came earlier.
      CREATE INDEX queue_entry_by_expires_at ON queue_entry (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX delayed_entry_by_expires_at ON delayed_entry (expires_at) WHERE expires_at IS NOT NULL;

      ALTER TABLE api_key
        ADD COLUMN max_priority text,
        ADD COLUMN max_waiting integer,
        ADD CONSTRAINT api_key_max_priority_is_known CHECK (max_priority IN ('high', 'normal', 'low')),
        ADD CONSTRAINT api_key_max_waiting_is_positive CHECK (max_waiting > 0)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE api_key DROP COLUMN max_waiting, DROP COLUMN max_priority;
      DROP INDEX delayed_entry_by_expires_at, queue_entry_by_expires_at;
      ALTER TABLE delayed_entry DROP COLUMN is_scheduled, DROP COLUMN api_key_id;
      ALTER TABLE queue_entry DROP COLUMN api_key_id;
      ALTER TABLE request
        DROP COLUMN erased_at, DROP COLUMN retried_as, DROP COLUMN retry_of, DROP COLUMN base_url,
        DROP COLUMN webhook_url, DROP COLUMN tags, DROP COLUMN not_before, DROP COLUMN timeout_ms`);
}
