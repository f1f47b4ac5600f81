import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators do with many requests at once, and what finds them. */
export class Operations1790000000025 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- What failed last night. An index of request by its outcome would make every completion write all its indexes.
      CREATE INDEX attempt_failed ON attempt (request_id) WHERE outcome IN ('failed', 'timed_out', 'lost');

      -- The names of nodes, for attempts whose node is gone.
      CREATE TABLE node_name (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        since timestamptz NOT NULL DEFAULT now()
      );
      CREATE FUNCTION keep_node_name() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO node_name (id, name) VALUES (NEW.id, NEW.name) ON CONFLICT (id) DO NOTHING;
          RETURN NULL;
        END $$;
      CREATE TRIGGER node_is_named AFTER INSERT ON node FOR EACH ROW EXECUTE FUNCTION keep_node_name();
      INSERT INTO node_name (id, name, since) SELECT id, name, started_at FROM node;

      -- One action on many requests: its members are those that its filter found when it was started.
      CREATE TABLE operation (
        id uuid PRIMARY KEY,
        action text NOT NULL,
        filter jsonb NOT NULL,
        state text NOT NULL DEFAULT 'running',
        total integer NOT NULL,
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
        CONSTRAINT operation_state_is_known CHECK (state IN ('running', 'stopping', 'stopped', 'done')),
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
      DROP TABLE operation_member, operation;
      DROP TRIGGER node_is_named ON node;
      DROP FUNCTION keep_node_name();
      DROP TABLE node_name;
      DROP INDEX attempt_failed`);
}
