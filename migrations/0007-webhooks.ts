import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks: an outbox that is written with the completion, what became of each try, and what a key has for them. */
export class WebhookDeliveries1790000000017 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- One completion for one receiver. A claim is a lease: until next_try_at nobody else tries it.
      CREATE TABLE webhook_delivery (
        request_id uuid NOT NULL,
        id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        endpoint_id uuid,
        url text NOT NULL,
        host text COLLATE "C" NOT NULL,
        state text NOT NULL DEFAULT 'pending',
        tries jsonb[] NOT NULL DEFAULT '{}',
        step smallint NOT NULL DEFAULT 0,
        next_try_at timestamptz NOT NULL DEFAULT now(),
        claimed_by uuid,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        is_erased boolean NOT NULL DEFAULT false,
        -- Ids of requests rise with time: rows are added at one end of it.
        PRIMARY KEY (request_id, id),
        CONSTRAINT webhook_delivery_state_is_known CHECK (state IN ('pending', 'delivered', 'failed', 'ended')),
        CONSTRAINT webhook_delivery_only_pending_is_claimed CHECK (claimed_by IS NULL OR state = 'pending'),
        CONSTRAINT webhook_delivery_step_is_sane CHECK (step >= 0)
      ) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);
      CREATE INDEX webhook_delivery_pending ON webhook_delivery (host, next_try_at) WHERE state = 'pending';

      -- Two of a key count while one is rotated: the old one until it expires.
      CREATE TABLE webhook_secret (
        api_key_id uuid NOT NULL,
        id uuid NOT NULL,
        secret bytea NOT NULL,
        is_sealed boolean NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz,
        PRIMARY KEY (api_key_id, id)
      );
      CREATE UNIQUE INDEX webhook_secret_newest_is_one ON webhook_secret (api_key_id) WHERE expires_at IS NULL;

      -- Where a key wants to be called for all its requests.
      CREATE TABLE webhook_endpoint (
        id uuid PRIMARY KEY,
        api_key_id uuid NOT NULL,
        url text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        disabled_at timestamptz,
        CONSTRAINT webhook_endpoint_url_is_unique UNIQUE (api_key_id, url)
      )`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`DROP TABLE webhook_endpoint, webhook_secret, webhook_delivery`);
}
