import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The queue (waiting and running requests; contended and therefore narrow) and the idempotency keys. */
export class Queue1790000000102 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- The requests that wait: the primary key is the order in which they are claimed.
      -- bounded_key_id, here and below: whose bound it counts against. Only these are in the indexes by it, so that nobody
      -- else pays for a bound.
      CREATE TABLE queue_entry (
        model_id text NOT NULL,
        priority smallint NOT NULL,
        seq bigint NOT NULL,
        request_id uuid NOT NULL,
        attempt integer NOT NULL DEFAULT 0,
        expires_at timestamptz,
        api_key_id uuid,
        virtual_start bigint NOT NULL DEFAULT 0,
        bounded_key_id uuid,
        PRIMARY KEY (model_id, priority, virtual_start, seq)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
              autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
              autovacuum_analyze_scale_factor = 0.2);
      -- A deadline of its own may lie before those of requests that came earlier.
      CREATE INDEX queue_entry_by_expires_at ON queue_entry (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX queue_entry_bounded ON queue_entry (bounded_key_id, model_id) WHERE bounded_key_id IS NOT NULL;

      -- No claim looks here before ready_at. Between two attempts a request keeps its place; so does one that is held, for
      -- its key is at its bound: ready_at is infinity. One that is scheduled has not been in its queue.
      CREATE TABLE delayed_entry (
        LIKE queue_entry INCLUDING DEFAULTS,
        ready_at timestamptz NOT NULL,
        is_scheduled boolean NOT NULL DEFAULT false,
        PRIMARY KEY (model_id, priority, virtual_start, seq),
        CONSTRAINT delayed_entry_only_a_bound_holds
          CHECK (ready_at < 'infinity' OR (bounded_key_id IS NOT NULL AND NOT is_scheduled))
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
      CREATE INDEX delayed_entry_by_ready_at ON delayed_entry (ready_at);
      CREATE INDEX delayed_entry_by_expires_at ON delayed_entry (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX delayed_entry_bounded ON delayed_entry (bounded_key_id, model_id)
        WHERE bounded_key_id IS NOT NULL AND ready_at < 'infinity' AND NOT is_scheduled;
      CREATE INDEX delayed_entry_held ON delayed_entry (bounded_key_id, model_id, priority, virtual_start, seq)
        WHERE ready_at = 'infinity';
      -- The front of a queue is found however many requests are scheduled for later.
      CREATE INDEX delayed_entry_in_queue ON delayed_entry (model_id, priority, virtual_start, seq)
        WHERE NOT is_scheduled;

      -- One run going on. Every write of the run is fenced on its token.
      CREATE TABLE lease (
        request_id uuid PRIMARY KEY,
        token uuid NOT NULL,
        model_id text NOT NULL,
        node_id uuid,
        attempt integer NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now(),
        deadline_at timestamptz NOT NULL,
        cancel_requested_at timestamptz,
        -- What its run has said, counted: log lines, progress and deltas.
        events integer NOT NULL DEFAULT 0,
        bounded_key_id uuid,
        -- A worker's lease expires by itself; its renewals change no index. Only these leases are in the workers' indexes.
        worker_id uuid,
        claim_id text,
        claim_hash bytea,
        handed integer,
        expires_at timestamptz,
        -- Its output while it grows, and the last progress.
        deltas integer NOT NULL DEFAULT 0,
        output_bytes bigint NOT NULL DEFAULT 0,
        progress_value real,
        progress_message text,
        CONSTRAINT lease_deadline_follows_start CHECK (deadline_at > started_at),
        CONSTRAINT lease_is_of_a_node_or_a_worker CHECK ((node_id IS NULL) <> (worker_id IS NULL)),
        CONSTRAINT lease_of_a_worker_expires CHECK ((worker_id IS NULL) = (expires_at IS NULL)),
        CONSTRAINT lease_progress_is_a_share CHECK (progress_value BETWEEN 0 AND 1)
      ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
      CREATE INDEX lease_bounded ON lease (bounded_key_id, model_id) WHERE bounded_key_id IS NOT NULL;
      CREATE INDEX lease_of_workers ON lease (model_id) WHERE worker_id IS NOT NULL;
      CREATE INDEX lease_by_claim ON lease (claim_id) WHERE claim_id IS NOT NULL;

      -- Which request an Idempotency-Key of an API key stands for.
      CREATE TABLE idempotency_key (
        api_key_id uuid NOT NULL,
        key text NOT NULL,
        request_id uuid NOT NULL,
        fingerprint bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (api_key_id, key),
        CONSTRAINT idempotency_key_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32)
      )`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`DROP TABLE idempotency_key, lease, delayed_entry, queue_entry`);
}
