import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keys of callers and operators, sessions, usage of keys, and the service's own secrets. */
export class Keys1790000000103 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Of a key only a SHA-256 is kept, and a prefix to recognise it by.
      -- The last use of thousands of keys is noted at once: a page has room for a change of each, and no index changes.
      CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        prefix text NOT NULL,
        hash bytea NOT NULL,
        -- Issuer and subject of a person who signs in by OpenID Connect; null: a key that somebody holds.
        subject text,
        scopes text[] NOT NULL,
        models text[],
        rate_limit_submit text,
        rate_limit_other text,
        max_priority text,
        max_waiting integer,
        max_running integer,
        -- When max_running was last set.
        bounded_at timestamptz,
        weight double precision NOT NULL DEFAULT 1,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz,
        CONSTRAINT api_key_hash_is_unique UNIQUE (hash),
        CONSTRAINT api_key_hash_is_sha256 CHECK (octet_length(hash) = 32),
        CONSTRAINT api_key_subject_is_unique UNIQUE (subject),
        CONSTRAINT api_key_scopes_are_known
          CHECK (scopes <@ ARRAY['submit', 'read', 'cancel', 'work', 'observe', 'payloads', 'admin']),
        CONSTRAINT api_key_max_priority_is_known CHECK (max_priority IN ('high', 'normal', 'low')),
        CONSTRAINT api_key_max_waiting_is_positive CHECK (max_waiting > 0),
        CONSTRAINT api_key_max_running_is_positive CHECK (max_running > 0),
        CONSTRAINT api_key_weight_is_sane CHECK (weight BETWEEN 0.01 AND 1000)
      ) WITH (fillfactor = 50);
      CREATE INDEX api_key_by_bounded_at ON api_key (bounded_at) WHERE bounded_at IS NOT NULL;

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

      -- One row: how often a key or a session was changed. While it stays, nodes need not read again what they know.
      CREATE TABLE key_change (
        count bigint NOT NULL
      );
      INSERT INTO key_change VALUES (0);
      CREATE FUNCTION count_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE key_change SET count = count + 1;
          RETURN NULL;
        END $$;
      -- Of all columns but last_used_at: what notes a use sets nothing else, and each key has that every half minute.
      CREATE TRIGGER api_key_changes_are_counted
        AFTER UPDATE OF id, name, prefix, hash, subject, scopes, models, rate_limit_submit, rate_limit_other,
                        max_priority, max_waiting, max_running, bounded_at, weight, created_at, expires_at, revoked_at
        ON api_key FOR EACH ROW EXECUTE FUNCTION count_key_change();
      CREATE TRIGGER api_key_removals_are_counted AFTER DELETE ON api_key
        FOR EACH ROW EXECUTE FUNCTION count_key_change();
      CREATE TRIGGER session_changes_are_counted AFTER UPDATE OR DELETE ON session
        FOR EACH ROW EXECUTE FUNCTION count_key_change();

      -- How many requests a key submitted on a day (UTC). Nodes add to it behind what happens.
      CREATE TABLE key_use (
        api_key_id uuid NOT NULL,
        day date NOT NULL,
        submitted bigint NOT NULL,
        PRIMARY KEY (api_key_id, day),
        CONSTRAINT key_use_is_not_negative CHECK (submitted >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE key_use, key_change, service_secret, sign_in_link, session, api_key;
      DROP FUNCTION count_key_change()`);
}
