import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A limit for the items of batches, turns of keys for webhooks, and a cap on what callers can write to the audit. */
export class Allowances1790000000116 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE api_key ADD COLUMN rate_limit_batch text;
      CREATE TRIGGER api_key_batch_limits_are_counted AFTER UPDATE OF rate_limit_batch ON api_key
        FOR EACH ROW EXECUTE FUNCTION count_key_change();

      -- It holds what is pending alone, so both take a moment.
      -- squawk-ignore require-concurrent-index-deletion
      DROP INDEX webhook_delivery_pending;
      CREATE INDEX webhook_delivery_pending ON webhook_delivery (host, api_key_id, next_try_at) WHERE state = 'pending';

      -- Changes stay for good. What only says that a call was refused goes after 90 days, and what says that somebody
      -- signed in or read something after 400, because callers can write any number of those.
      CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE' THEN
            IF OLD.action IN ('access.refuse', 'session.refuse') AND OLD.at < now() - interval '90 days'
               OR OLD.action IN ('session.begin', 'session.end', 'payload.read', 'secret.read', 'audit.export')
                  AND OLD.at < now() - interval '400 days' THEN
              RETURN OLD;
            END IF;
          END IF;
          RAISE EXCEPTION 'audit_entry takes new rows only';
        END $$`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'audit_entry takes new rows only';
        END $$;
      DROP INDEX webhook_delivery_pending;
      CREATE INDEX webhook_delivery_pending ON webhook_delivery (host, next_try_at) WHERE state = 'pending';
      DROP TRIGGER api_key_batch_limits_are_counted ON api_key;
      ALTER TABLE api_key DROP COLUMN rate_limit_batch`);
}
