import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The keys of callers, and the processes that serve them. */
export class KeysAndNodes1790000000012 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- Of a key only a SHA-256 is kept, and a prefix to recognise it by.
      -- The last use of thousands of keys is noted at once: a page has room for a change of each, and no index changes.
      CREATE TABLE api_key (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        prefix text NOT NULL,
        hash bytea NOT NULL,
        scopes text[] NOT NULL,
        models text[],
        rate_limit_submit text,
        rate_limit_other text,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz,
        CONSTRAINT api_key_hash_is_unique UNIQUE (hash),
        CONSTRAINT api_key_hash_is_sha256 CHECK (octet_length(hash) = 32),
        CONSTRAINT api_key_scopes_are_known CHECK (scopes <@ ARRAY['submit', 'read', 'cancel'])
      ) WITH (fillfactor = 50);

      -- One process of the service, and when it was last heard of.
      CREATE TABLE node (
        id uuid PRIMARY KEY,
        name text NOT NULL,
        role text NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now(),
        heartbeat_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT node_role_is_known CHECK (role IN ('all', 'api', 'scheduler'))
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 100)`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE node, api_key`);
}
