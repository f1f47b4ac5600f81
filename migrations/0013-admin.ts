import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who may look and change as an operator, and what they did. */
export class Admin1790000000023 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ALTER TABLE api_key DROP CONSTRAINT api_key_scopes_are_known;
      ALTER TABLE api_key ADD CONSTRAINT api_key_scopes_are_known
        CHECK (scopes <@ ARRAY['submit', 'read', 'cancel', 'observe', 'payloads', 'admin']);

      -- A key that signed in with a browser. Of its cookie only a SHA-256 is kept.
      CREATE TABLE session (
        id uuid PRIMARY KEY,
        hash bytea NOT NULL,
        api_key_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        ended_at timestamptz,
        address text,
        user_agent text,
        CONSTRAINT session_hash_is_unique UNIQUE (hash),
        CONSTRAINT session_hash_is_sha256 CHECK (octet_length(hash) = 32)
      );
      CREATE INDEX session_by_key ON session (api_key_id);

      -- Signs in once.
      CREATE TABLE sign_in_link (
        hash bytea PRIMARY KEY,
        api_key_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz NOT NULL,
        used_at timestamptz,
        CONSTRAINT sign_in_link_hash_is_sha256 CHECK (octet_length(hash) = 32)
      );
      CREATE INDEX sign_in_link_by_key ON sign_in_link (api_key_id);

      -- What the service made for itself, the same on every node.
      CREATE TABLE service_secret (
        name text PRIMARY KEY,
        value bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      );

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
      CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          RAISE EXCEPTION 'audit_entry takes new rows only';
        END $$;
      CREATE TRIGGER audit_entry_is_append_only BEFORE UPDATE OR DELETE ON audit_entry
        FOR EACH ROW EXECUTE FUNCTION refuse_change();
      CREATE TRIGGER audit_entry_is_not_emptied BEFORE TRUNCATE ON audit_entry
        FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE audit_entry, service_secret, sign_in_link, session;
      DROP FUNCTION refuse_change();
      UPDATE api_key SET scopes = ARRAY(SELECT scope FROM unnest(scopes) AS scope
                                        WHERE scope IN ('submit', 'read', 'cancel'));
      ALTER TABLE api_key DROP CONSTRAINT api_key_scopes_are_known;
      ALTER TABLE api_key ADD CONSTRAINT api_key_scopes_are_known
        CHECK (scopes <@ ARRAY['submit', 'read', 'cancel'])`);
}
