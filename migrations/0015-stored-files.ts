import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The number of stored files of each key, and their bytes. */
export class StoredFiles1790000000115 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';

      CREATE TABLE stored_files (
        api_key_id uuid PRIMARY KEY,
        -- Those that are announced as well: a row each, whether its bytes come or not.
        files bigint NOT NULL,
        -- Of those that are stored.
        bytes bigint NOT NULL
      );

      -- Counted in the commit of the change itself, whichever statement and whichever release makes it. A statement that
      -- changes neither, such as the begin of an upload, touches no row of the count.
      CREATE FUNCTION count_stored_files() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO stored_files AS known (api_key_id, files, bytes)
          SELECT api_key_id, count(*), sum(CASE WHEN state = 'stored' THEN size ELSE 0 END)
          FROM new_files WHERE state <> 'removed'
          GROUP BY api_key_id ORDER BY api_key_id
          ON CONFLICT (api_key_id) DO UPDATE
          SET files = known.files + excluded.files, bytes = known.bytes + excluded.bytes;
        ELSIF TG_OP = 'DELETE' THEN
          INSERT INTO stored_files AS known (api_key_id, files, bytes)
          SELECT api_key_id, -count(*), -sum(CASE WHEN state = 'stored' THEN size ELSE 0 END)
          FROM old_files WHERE state <> 'removed'
          GROUP BY api_key_id ORDER BY api_key_id
          ON CONFLICT (api_key_id) DO UPDATE
          SET files = known.files + excluded.files, bytes = known.bytes + excluded.bytes;
        ELSE
          INSERT INTO stored_files AS known (api_key_id, files, bytes)
          SELECT api_key_id, sum(files), sum(bytes)
          FROM (
            SELECT api_key_id, 1 AS files, CASE WHEN state = 'stored' THEN size ELSE 0 END AS bytes
            FROM new_files WHERE state <> 'removed'
            UNION ALL
            SELECT api_key_id, -1, CASE WHEN state = 'stored' THEN -size ELSE 0 END
            FROM old_files WHERE state <> 'removed'
          ) AS changed
          GROUP BY api_key_id
          HAVING sum(files) <> 0 OR sum(bytes) <> 0
          ORDER BY api_key_id
          ON CONFLICT (api_key_id) DO UPDATE
          SET files = known.files + excluded.files, bytes = known.bytes + excluded.bytes;
        END IF;
        RETURN NULL;
      END
      $$;
      CREATE TRIGGER count_added_files AFTER INSERT ON file
        REFERENCING NEW TABLE AS new_files
        FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
      CREATE TRIGGER count_changed_files AFTER UPDATE ON file
        REFERENCING OLD TABLE AS old_files NEW TABLE AS new_files
        FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
      CREATE TRIGGER count_deleted_files AFTER DELETE ON file
        REFERENCING OLD TABLE AS old_files
        FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();

      -- The triggers have locked the table against changes until this is committed.
      INSERT INTO stored_files (api_key_id, files, bytes)
      SELECT api_key_id, count(*), coalesce(sum(size) FILTER (WHERE state = 'stored'), 0)
      FROM file WHERE state <> 'removed'
      GROUP BY api_key_id`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TRIGGER count_added_files ON file;
      DROP TRIGGER count_changed_files ON file;
      DROP TRIGGER count_deleted_files ON file;
      DROP FUNCTION count_stored_files();
      DROP TABLE stored_files`);
}
