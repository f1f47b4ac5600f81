import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What several nodes share: slots of a model, and the idempotency keys of submissions. */
export class Nodes1780000000004 implements MigrationInterface {
  name = 'Nodes1780000000004';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE slot_grant (
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        slots integer NOT NULL,
        CONSTRAINT slot_grant_pkey PRIMARY KEY (model_id, node_id),
        CONSTRAINT slot_grant_slots_is_not_negative CHECK (slots >= 0)
      )`);
    await db.query(`
      CREATE TABLE idempotency_key (
        api_key_id uuid NOT NULL,
        key text NOT NULL,
        request_id uuid NOT NULL,
        fingerprint bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT idempotency_key_pkey PRIMARY KEY (api_key_id, key),
        CONSTRAINT idempotency_key_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32)
      )`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`DROP TABLE idempotency_key, slot_grant`);
  }
}
