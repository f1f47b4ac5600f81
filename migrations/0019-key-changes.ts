import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether any key was changed, as one number. */
export class KeyChanges1790000000029 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- One row: how often a key or a session was changed. While it stays, nodes need not read again what they know.
      CREATE TABLE key_change (
        count bigint NOT NULL
      );
      INSERT INTO key_change VALUES (0);
      CREATE FUNCTION count_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE key_change SET count = count + 1;
          RETURN NULL;
        END $$;
      -- What notes a use sets nothing else, and each key has that every half minute.
      DO $$ BEGIN
        EXECUTE format('CREATE TRIGGER api_key_changes_are_counted AFTER UPDATE OF %s ON api_key '
                       'FOR EACH ROW EXECUTE FUNCTION count_key_change()',
                       (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
                        WHERE attrelid = 'api_key'::regclass AND attnum > 0 AND NOT attisdropped
                          AND attname <> 'last_used_at'));
      END $$;
      CREATE TRIGGER api_key_removals_are_counted AFTER DELETE ON api_key
        FOR EACH ROW EXECUTE FUNCTION count_key_change();
      CREATE TRIGGER session_changes_are_counted AFTER UPDATE OR DELETE ON session
        FOR EACH ROW EXECUTE FUNCTION count_key_change()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP TRIGGER session_changes_are_counted ON session;
      DROP TRIGGER api_key_removals_are_counted ON api_key;
      DROP TRIGGER api_key_changes_are_counted ON api_key;
      DROP FUNCTION count_key_change();
      DROP TABLE key_change`);
}
