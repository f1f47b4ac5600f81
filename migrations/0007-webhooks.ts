import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks: an outbox that is written with the completion, what became of each try, and what a key has for them. */
export class Webhooks1790000000017 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- One completion for one receiver. A claim is a lease: until next_try_at nobody else tries it.
      CREATE TABLE webhook_delivery (
        id uuid PRIMARY KEY,
        request_id uuid NOT NULL,
        api_key_id uuid NOT NULL,
        endpoint_id uuid,
        url text NOT NULL,
        host text COLLATE "C" NOT NULL,
        state text NOT NULL DEFAULT 'pending',
        tries integer NOT NULL DEFAULT 0,
        step smallint NOT NULL DEFAULT 0,
        next_try_at timestamptz NOT NULL DEFAULT now(),
        claimed_by uuid,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT webhook_delivery_state_is_known CHECK (state IN ('pending', 'delivered', 'failed', 'ended')),
        CONSTRAINT webhook_delivery_only_pending_is_claimed CHECK (claimed_by IS NULL OR state = 'pending'),
        CONSTRAINT webhook_delivery_counts_are_sane CHECK (tries >= 0 AND step >= 0)
      ) WITH (autovacuum_vacuum_scale_factor = 0.1, autovacuum_vacuum_threshold = 1000);
      CREATE INDEX webhook_delivery_pending ON webhook_delivery (host, next_try_at) WHERE state = 'pending';
      CREATE INDEX webhook_delivery_by_request ON webhook_delivery (request_id);

      CREATE TABLE webhook_try (
        delivery_id uuid NOT NULL,
        number integer NOT NULL,
        at timestamptz NOT NULL,
        status integer,
        duration_ms integer NOT NULL,
        body text,
        error text,
        PRIMARY KEY (delivery_id, number),
        CONSTRAINT webhook_try_has_an_answer_or_an_error CHECK ((status IS NULL) = (error IS NOT NULL))
      );

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
    db.query(`DROP TABLE webhook_endpoint, webhook_secret, webhook_try, webhook_delivery`);
}
