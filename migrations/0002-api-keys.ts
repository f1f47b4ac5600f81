import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API keys: only a SHA-256 is kept, and a prefix to recognise a key by. */
export class ApiKeys1780000000002 implements MigrationInterface {
  name = 'ApiKeys1780000000002';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE api_key (
        id uuid NOT NULL,
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
        CONSTRAINT api_key_pkey PRIMARY KEY (id),
        CONSTRAINT api_key_hash_is_unique UNIQUE (hash),
        CONSTRAINT api_key_hash_is_sha256 CHECK (octet_length(hash) = 32),
        CONSTRAINT api_key_scopes_are_known CHECK (scopes <@ ARRAY['submit', 'read', 'cancel'])
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`DROP TABLE api_key`);
  }
}
