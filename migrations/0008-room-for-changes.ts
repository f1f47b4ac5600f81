import type { MigrationInterface, QueryRunner } from 'typeorm';

const before = 'fillfactor = 70';
const after = 'fillfactor = 40';

/**
 * A page of requests keeps room for two changes of each, so that nearly all are HOT: 94 % of those of a full life, with
 * 70 it was 53 %. After those lives the table is as large, for what had no room went to new pages, and its index half.
 */
export class RoomForChanges1780000000008 implements MigrationInterface {
  name = 'RoomForChanges1780000000008';

  async up(db: QueryRunner): Promise<void> {
    await store(db, before, after);
  }

  async down(db: QueryRunner): Promise<void> {
    await store(db, after, before);
  }
}

/** For the days to come by their function, which is otherwise as it was, and for what is yet to come of the others. */
async function store(db: QueryRunner, old: string, storage: string): Promise<void> {
  await db.query(`
    DO $$
    DECLARE
      part regclass;
    BEGIN
      EXECUTE replace(pg_get_functiondef('ensure_partitions'::regproc), '${old}', '${storage}');
      FOR part IN SELECT relid FROM pg_partition_tree('request') WHERE isleaf LOOP
        EXECUTE format('ALTER TABLE %s SET (${storage})', part);
      END LOOP;
    END
    $$`);
}
