import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhooks: an outbox written with the completion, the result of each try, and the endpoints of keys. */
export class Webhooks1790000000107 implements MigrationInterface {
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
      -- Only of what failed: a delivery that arrives costs no entry. All others are found by the keys of their requests.
      CREATE INDEX webhook_delivery_given_up ON webhook_delivery (request_id, id) WHERE state IN ('failed', 'ended');

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
      );

      -- What an hour of tries came to, for each endpoint of a key, and for each host of URLs that requests named
      -- (endpoint_id is then all zeros). Written with the tries.
      CREATE TABLE receiver_activity (
        endpoint_id uuid NOT NULL,
        host text COLLATE "C" NOT NULL,
        hour timestamptz NOT NULL,
        delivered bigint NOT NULL DEFAULT 0,
        given_up bigint NOT NULL DEFAULT 0,
        failed_tries bigint NOT NULL DEFAULT 0,
        last_try jsonb NOT NULL,
        PRIMARY KEY (endpoint_id, host, hour),
        CONSTRAINT receiver_activity_counts_are_not_negative
          CHECK (delivered >= 0 AND given_up >= 0 AND failed_tries >= 0)
      ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
      CREATE INDEX receiver_activity_by_hour ON receiver_activity (hour)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`DROP TABLE receiver_activity, webhook_endpoint, webhook_secret, webhook_delivery`);
}
