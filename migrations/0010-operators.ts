import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The audit of what operators did, and their operations on many requests. */
export class Operators1790000000110 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Its ids are in the order of time. Rows are never changed, and only whole tables can be dropped.
      CREATE TABLE audit_entry (
        id uuid PRIMARY KEY,
        at timestamptz NOT NULL DEFAULT now(),
        action text NOT NULL,
        target text,
        actor_key_id uuid,
        actor_name text NOT NULL,
        session_id uuid,
        address text,
        user_agent text,
        http_request_id text,
        before jsonb,
        after jsonb,
        reason text
      );
      CREATE INDEX audit_entry_by_target ON audit_entry (target, id);
      CREATE INDEX audit_entry_by_actor ON audit_entry (actor_key_id, id);
      CREATE INDEX audit_entry_by_action ON audit_entry (action, id);
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'audit_entry takes new rows only';
        END $$;
      CREATE TRIGGER audit_entry_is_append_only BEFORE UPDATE OR DELETE ON audit_entry
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER audit_entry_is_not_emptied BEFORE TRUNCATE ON audit_entry
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

      -- One action on many requests: its members are those that its filter finds, step by step, after it was started.
      CREATE TABLE operation (
        id uuid PRIMARY KEY,
        action text NOT NULL,
        filter jsonb NOT NULL,
        state text NOT NULL DEFAULT 'collecting',
        total integer NOT NULL DEFAULT 0,
        -- The last request that was looked at: all newer ones were, too.
        collected_to uuid,
        done integer NOT NULL DEFAULT 0,
        skipped integer NOT NULL DEFAULT 0,
        failed integer NOT NULL DEFAULT 0,
        last_error text,
        reason text,
        actor_key_id uuid,
        actor_name text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        ended_at timestamptz,
        claimed_by uuid,
        claimed_until timestamptz,
        CONSTRAINT operation_action_is_known CHECK (action IN ('cancel', 'retry', 'erase')),
        CONSTRAINT operation_state_is_known
          CHECK (state IN ('collecting', 'running', 'stopping', 'stopped', 'done')),
        CONSTRAINT operation_ends_once CHECK ((ended_at IS NOT NULL) = (state IN ('stopped', 'done'))),
        CONSTRAINT operation_counts_are_sane
          CHECK (done >= 0 AND skipped >= 0 AND failed >= 0 AND done + skipped + failed <= total)
      );
      CREATE INDEX operation_open ON operation (id) WHERE ended_at IS NULL;

      -- The members that are still to be dealt with.
      CREATE TABLE operation_member (
        operation_id uuid NOT NULL,
        request_id uuid NOT NULL,
        PRIMARY KEY (operation_id, request_id)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE operation_member, operation, audit_entry;
      DROP FUNCTION refuse_change()`);
}
