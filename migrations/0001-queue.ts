import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A page keeps room for two changes of each request, so that nearly all are HOT, and leave the indexes alone: a vacuum
 * is cheap. It comes after so many dead rows, not after a share of the day, which by the evening may be millions.
 */
const storage = 'fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000';

/** The queue: what is kept (partitioned by day), what is contended (narrow), and what nodes share of it. */
export class Queue1790000000011 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE SEQUENCE request_seq;
      CREATE SEQUENCE request_event_id;

      -- The smallest UUIDv7 of an instant: ids carry their millisecond, so a day of ids is a range of ids.
      CREATE FUNCTION uuid_at(at timestamptz) RETURNS uuid
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT (lpad(to_hex(floor(extract(epoch FROM at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
      $$;
      CREATE FUNCTION uuid_time(id uuid) RETURNS timestamptz
      LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
        SELECT to_timestamp(('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint / 1000.0)
      $$;

      CREATE TABLE request (
        id uuid PRIMARY KEY,
        model_id text NOT NULL,
        api_key_id uuid NOT NULL,
        state text NOT NULL DEFAULT 'IN_QUEUE',
        outcome text,
        priority smallint NOT NULL DEFAULT 0,
        seq bigint NOT NULL,
        attempt integer NOT NULL DEFAULT 0,
        failed_attempts smallint NOT NULL DEFAULT 0,
        lost_attempts smallint NOT NULL DEFAULT 0,
        input json,
        output json,
        error json,
        inference_ms integer,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        expires_at timestamptz,
        started_at timestamptz,
        completed_at timestamptz,
        CONSTRAINT request_state_is_known CHECK (state IN ('IN_QUEUE', 'IN_PROGRESS', 'COMPLETED')),
        CONSTRAINT request_outcome_is_known
          CHECK (outcome IN ('succeeded', 'failed', 'cancelled', 'expired')),
        CONSTRAINT request_completed_has_outcome_and_time
          CHECK ((state = 'COMPLETED') = (outcome IS NOT NULL)
             AND (state = 'COMPLETED') = (completed_at IS NOT NULL)),
        CONSTRAINT request_in_progress_has_started
          CHECK (state <> 'IN_PROGRESS' OR (started_at IS NOT NULL AND attempt > 0)),
        CONSTRAINT request_error_only_without_success
          CHECK ((error IS NOT NULL) = (outcome IS NOT NULL AND outcome <> 'succeeded')),
        CONSTRAINT request_output_only_with_success CHECK (output IS NULL OR outcome = 'succeeded'),
        CONSTRAINT request_counts_are_sane
          CHECK (attempt >= 0 AND failed_attempts >= 0 AND lost_attempts >= 0
             AND failed_attempts + lost_attempts <= attempt)
      ) PARTITION BY RANGE (id);

      CREATE TABLE attempt (
        request_id uuid NOT NULL,
        attempt integer NOT NULL,
        node_id uuid NOT NULL,
        started_at timestamptz NOT NULL,
        ended_at timestamptz NOT NULL DEFAULT now(),
        outcome text NOT NULL,
        error_code text,
        error_message text,
        PRIMARY KEY (request_id, attempt),
        CONSTRAINT attempt_outcome_is_known
          CHECK (outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'returned', 'lost'))
      ) PARTITION BY RANGE (request_id);

      CREATE TABLE request_event (
        request_id uuid NOT NULL,
        id bigint NOT NULL DEFAULT nextval('request_event_id'),
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        kind text NOT NULL,
        attempt integer NOT NULL DEFAULT 0,
        level text,
        source text,
        message text,
        PRIMARY KEY (request_id, id),
        CONSTRAINT request_event_kind_is_known
          CHECK (kind IN ('started', 'log', 'requeued', 'cancel_requested', 'completed')),
        CONSTRAINT request_event_level_is_known CHECK (level IN ('DEBUG', 'INFO', 'WARN', 'ERROR')),
        CONSTRAINT request_event_source_is_known CHECK (source IN ('queue', 'runner', 'stdout', 'stderr')),
        CONSTRAINT request_event_message_has_level_and_source
          CHECK ((message IS NULL) = (level IS NULL) AND (message IS NULL) = (source IS NULL))
      ) PARTITION BY RANGE (request_id);

      -- Built apart and then attached: ATTACH lets reads and writes of the parent go on, CREATE … OF does not.
      CREATE FUNCTION ensure_partitions(first_day date, days integer) RETURNS integer
      LANGUAGE plpgsql AS $$
      DECLARE
        parent text;
        part text;
        day date;
        made integer := 0;
      BEGIN
        FOR day IN SELECT first_day + n FROM generate_series(0, days - 1) AS n LOOP
          FOREACH parent IN ARRAY ARRAY['request', 'attempt', 'request_event'] LOOP
            part := parent || '_' || to_char(day, 'YYYYMMDD');
            CONTINUE WHEN to_regclass(part) IS NOT NULL;
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent);
            IF parent = 'request' THEN
              EXECUTE format('ALTER TABLE %I SET (${storage})', part);
            END IF;
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part,
                           uuid_at(day::timestamp AT TIME ZONE 'UTC'), uuid_at((day + 1)::timestamp AT TIME ZONE 'UTC'));
            made := made + 1;
          END LOOP;
        END LOOP;
        RETURN made;
      END
      $$;
      SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, 9);

      -- The requests that wait: the primary key is the order in which they are claimed.
      CREATE TABLE queue_entry (
        model_id text NOT NULL,
        priority smallint NOT NULL,
        seq bigint NOT NULL,
        request_id uuid NOT NULL,
        attempt integer NOT NULL DEFAULT 0,
        expires_at timestamptz,
        PRIMARY KEY (model_id, priority, seq)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
              autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
              autovacuum_analyze_scale_factor = 0.2);

      -- A request between two attempts: it keeps its place, but cannot be claimed before ready_at.
      CREATE TABLE delayed_entry (
        LIKE queue_entry INCLUDING DEFAULTS,
        ready_at timestamptz NOT NULL,
        PRIMARY KEY (model_id, priority, seq)
      ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
      CREATE INDEX delayed_entry_by_ready_at ON delayed_entry (ready_at);

      -- One run going on. Every write of the run is fenced on its token.
      CREATE TABLE lease (
        request_id uuid PRIMARY KEY,
        token uuid NOT NULL,
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        attempt integer NOT NULL,
        started_at timestamptz NOT NULL DEFAULT now(),
        deadline_at timestamptz NOT NULL,
        cancel_requested_at timestamptz,
        log_lines integer NOT NULL DEFAULT 0,
        CONSTRAINT lease_deadline_follows_start CHECK (deadline_at > started_at)
      ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

      CREATE TABLE model (
        id text PRIMARY KEY,
        description text NOT NULL DEFAULT '',
        runner text NOT NULL,
        concurrency integer NOT NULL,
        timeout_ms integer NOT NULL,
        expires_ms bigint,
        attempts integer NOT NULL,
        updated_at timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT model_settings_are_positive
          CHECK (concurrency > 0 AND timeout_ms > 0 AND expires_ms > 0 AND attempts > 0)
      );

      -- Which request an Idempotency-Key of an API key stands for.
      CREATE TABLE idempotency_key (
        api_key_id uuid NOT NULL,
        key text NOT NULL,
        request_id uuid NOT NULL,
        fingerprint bytea NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (api_key_id, key),
        CONSTRAINT idempotency_key_fingerprint_is_sha256 CHECK (octet_length(fingerprint) = 32)
      );

      -- How many runs of a model at once one node may have, of those that all nodes may have together.
      CREATE TABLE slot_grant (
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        slots integer NOT NULL,
        PRIMARY KEY (model_id, node_id),
        CONSTRAINT slot_grant_slots_is_not_negative CHECK (slots >= 0)
      )`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE slot_grant, idempotency_key, model, lease, delayed_entry, queue_entry, request_event, attempt, request;
      DROP FUNCTION ensure_partitions(date, integer), uuid_time(uuid), uuid_at(timestamptz);
      DROP SEQUENCE request_event_id, request_seq`);
}
