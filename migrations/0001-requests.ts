import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A page keeps room for two changes of each request. Nearly all updates are therefore HOT and do not touch the indexes,
 * which makes a vacuum cheap. A vacuum starts after a fixed number of dead rows. A share of the day's rows may be
 * millions by the evening.
 */
const storage = 'fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000';

/** Requests with their completed runs and their events, partitioned by day. */
export class Requests1790000000100 implements MigrationInterface {
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
        -- What its submission may say besides the input.
        timeout_ms integer,
        not_before timestamptz,
        tags text[],
        webhook_url text,
        base_url text,
        -- Of which it is the retry, and which is its own.
        retry_of uuid,
        retried_as uuid,
        erased_at timestamptz,
        -- What an adapter has to know when it is over.
        adapter text,
        has_own_expiry boolean,
        -- Keys take turns: its place among those of its model and priority, decided when it is submitted.
        virtual_start bigint NOT NULL DEFAULT 0,
        -- The trace that it is part of, as W3C Trace Context has it.
        traceparent text,
        tracestate text,
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
             AND failed_attempts + lost_attempts <= attempt),
        CONSTRAINT request_adapter_is_known CHECK (adapter IN ('fal')),
        CONSTRAINT request_state_of_a_trace CHECK (tracestate IS NULL OR traceparent IS NOT NULL)
      ) PARTITION BY RANGE (id);
      -- The lists of a key's requests, newest first. The condition is always true, but only a query by a key implies it:
      -- for one by id alone the planner cannot take this index, as it would where statistics say that a day is empty.
      CREATE INDEX request_by_key ON request (api_key_id, id) WHERE api_key_id IS NOT NULL;

      -- token_hash: of a worker's lease, so that what it says of its end again is known.
      CREATE TABLE attempt (
        request_id uuid NOT NULL,
        attempt integer NOT NULL,
        node_id uuid,
        started_at timestamptz NOT NULL,
        ended_at timestamptz NOT NULL DEFAULT now(),
        outcome text NOT NULL,
        error_code text,
        error_message text,
        worker_id uuid,
        token_hash bytea,
        PRIMARY KEY (request_id, attempt),
        CONSTRAINT attempt_outcome_is_known
          CHECK (outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'returned', 'lost', 'unreached'))
      ) PARTITION BY RANGE (request_id);
      -- What failed last night. An index of request by its outcome would make every completion write all its indexes.
      CREATE INDEX attempt_failed ON attempt (request_id) WHERE outcome IN ('failed', 'timed_out', 'lost');

      -- What no other row says: starts are in attempt and lease, the submission and the end in request.
      CREATE TABLE request_event (
        request_id uuid NOT NULL,
        id bigint NOT NULL DEFAULT nextval('request_event_id'),
        at timestamptz NOT NULL DEFAULT clock_timestamp(),
        kind text NOT NULL,
        attempt integer NOT NULL DEFAULT 0,
        level text,
        source text,
        message text,
        -- Of what was requeued: when the pause before its next attempt is over.
        paused_until timestamptz,
        PRIMARY KEY (request_id, id),
        CONSTRAINT request_event_kind_is_known
          CHECK (kind IN ('log', 'requeued', 'cancel_requested')),
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
        -- Nodes that start at once after midnight would make the same day; the second waits, and finds it.
        PERFORM pg_advisory_xact_lock(hashtext('ensure_partitions'));
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
      SELECT ensure_partitions((now() AT TIME ZONE 'UTC')::date - 1, 9)`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TABLE request_event, attempt, request;
      DROP FUNCTION ensure_partitions(date, integer), uuid_time(uuid), uuid_at(timestamptz);
      DROP SEQUENCE request_event_id, request_seq`);
}
