import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Files: the uploads, the requests that name them, and the storage of their bytes. */
export class Files1790000000108 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- The id is a random UUID: who knows it may read the file. Each try of an upload writes bytes of its own, under the
      -- id and its number, so that no two can mix; upload is the one that came to an end first.
      CREATE TABLE file (
        id uuid PRIMARY KEY,
        api_key_id uuid NOT NULL,
        name text NOT NULL,
        content_type text NOT NULL,
        state text NOT NULL DEFAULT 'initiated',
        uploads smallint NOT NULL DEFAULT 0,
        upload smallint,
        size bigint,
        sha256 bytea,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        stored_at timestamptz,
        -- When it is looked at whether a request names it; null: one does.
        expires_at timestamptz,
        CONSTRAINT file_state_is_known CHECK (state IN ('initiated', 'stored', 'removed')),
        CONSTRAINT file_stored_has_content
          CHECK (state <> 'stored'
             OR (upload IS NOT NULL AND size IS NOT NULL AND sha256 IS NOT NULL AND stored_at IS NOT NULL)),
        CONSTRAINT file_sizes_are_sane CHECK (size >= 0 AND octet_length(sha256) = 32 AND upload <= uploads)
      );
      CREATE INDEX file_by_expiry ON file (expires_at) WHERE expires_at IS NOT NULL;
      CREATE INDEX file_removed ON file (id) WHERE state = 'removed';

      -- A request of the file's own key that names it in its input or output. Over: its payload is gone.
      CREATE TABLE file_use (
        request_id uuid NOT NULL,
        file_id uuid NOT NULL,
        in_input boolean NOT NULL,
        is_over boolean NOT NULL DEFAULT false,
        PRIMARY KEY (request_id, file_id)
      );
      CREATE INDEX file_use_by_file ON file_use (file_id);
      CREATE INDEX file_use_over ON file_use (file_id) WHERE is_over;

      -- Where the bytes of all files are; a node that keeps them elsewhere is not ready.
      CREATE TABLE file_place (
        is_only boolean PRIMARY KEY DEFAULT true,
        place text NOT NULL,
        CONSTRAINT file_place_is_one CHECK (is_only)
      )`);

  down = (db: QueryRunner): Promise<unknown> => db.query(`DROP TABLE file_place, file_use, file`);
}
