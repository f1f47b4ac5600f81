import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Batches: the lines of a file, each of which becomes a request, and the files that their results are written to. */
export class Batches1790000000128 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      CREATE TABLE batch (
        id uuid PRIMARY KEY,
        api_key_id uuid NOT NULL,
        status text NOT NULL DEFAULT 'validating',
        -- The format of its lines, and what the format stores.
        format text NOT NULL,
        metadata jsonb NOT NULL DEFAULT '{}',
        model_id text,
        tag text,
        priority smallint NOT NULL,
        webhook_url text,
        base_url text,
        input_file_id uuid NOT NULL,
        idempotency_key text,
        fingerprint bytea NOT NULL,
        window_seconds integer NOT NULL,
        -- The lines of the input; null: it has not been read to its end yet.
        total integer,
        -- How far it was read: lines that became requests or were refused, and bytes.
        read_lines integer NOT NULL DEFAULT 0,
        read_bytes bigint NOT NULL DEFAULT 0,
        -- Lines in segments.
        completed integer NOT NULL DEFAULT 0,
        failed integer NOT NULL DEFAULT 0,
        cancelled integer NOT NULL DEFAULT 0,
        expired integer NOT NULL DEFAULT 0,
        output_bytes bigint NOT NULL DEFAULT 0,
        error_bytes bigint NOT NULL DEFAULT 0,
        errors jsonb NOT NULL DEFAULT '[]',
        -- What ends it before its last line; null: nothing has yet.
        ends_as text,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        started_at timestamptz,
        finalizing_at timestamptz,
        cancelling_at timestamptz,
        collected_at timestamptz,
        ended_at timestamptz,
        expires_at timestamptz NOT NULL,
        -- The next turn of a driver, and the lease of the driver at work.
        due_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        leased_by uuid,
        lease_token uuid,
        leased_until timestamptz,
        CONSTRAINT batch_status_is_known CHECK (status IN (
          'validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired', 'cancelling', 'cancelled'
        )),
        CONSTRAINT batch_ends_once CHECK (
          (ended_at IS NOT NULL) = (status IN ('completed', 'failed', 'expired', 'cancelled'))
        ),
        CONSTRAINT batch_early_end_is_known CHECK (ends_as IN ('cancelled', 'expired')),
        CONSTRAINT batch_ended_is_not_leased CHECK (
          (lease_token IS NULL) = (leased_until IS NULL) AND (ended_at IS NULL OR lease_token IS NULL)
        ),
        CONSTRAINT batch_counts_are_sane CHECK (
          completed >= 0 AND failed >= 0 AND cancelled >= 0 AND expired >= 0
          AND completed + failed + cancelled + expired <= read_lines AND read_lines <= coalesce(total, 0)
        )
      );
      CREATE INDEX batch_by_key ON batch (api_key_id, id);
      CREATE INDEX batch_open ON batch (due_at) WHERE ended_at IS NULL;
      CREATE INDEX batch_ended ON batch (ended_at) WHERE ended_at IS NOT NULL;
      CREATE UNIQUE INDEX batch_once ON batch (api_key_id, idempotency_key) WHERE idempotency_key IS NOT NULL;

      -- Lines that have been read and are not in a segment yet.
      CREATE TABLE batch_line (
        batch_id uuid NOT NULL,
        line integer NOT NULL,
        request_id uuid,
        custom_id text NOT NULL,
        -- Why the line was not submitted, and as what it counts.
        outcome text,
        error json,
        PRIMARY KEY (batch_id, line),
        CONSTRAINT batch_line_is_submitted_or_refused CHECK (
          (request_id IS NULL) = (outcome IS NOT NULL) AND (request_id IS NULL) = (error IS NOT NULL)
        ),
        CONSTRAINT batch_line_outcome_is_known CHECK (outcome IN ('failed', 'cancelled', 'expired'))
      );

      -- The parts of the files that a batch writes, in the order of their numbers.
      CREATE TABLE batch_segment (
        batch_id uuid NOT NULL,
        kind text NOT NULL,
        number integer NOT NULL,
        file_id uuid NOT NULL,
        lines integer NOT NULL,
        bytes bigint NOT NULL,
        PRIMARY KEY (batch_id, kind, number),
        CONSTRAINT batch_segment_kind_is_known CHECK (kind IN ('output', 'errors')),
        CONSTRAINT batch_segment_is_not_empty CHECK (number >= 1 AND lines >= 1 AND bytes >= 1)
      )`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query('DROP TABLE batch_segment; DROP TABLE batch_line; DROP TABLE batch');
}
