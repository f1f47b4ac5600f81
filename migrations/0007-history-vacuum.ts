import type { MigrationInterface, QueryRunner } from 'typeorm';

const roomForChanges = 'fillfactor = 70';
const byCount = 'autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000';

/**
 * A day's requests are vacuumed after so many dead rows, not after a share of the day, which by the evening may be
 * millions. It is cheap: their changes are HOT, so the indexes are not gone through.
 */
export class HistoryVacuum1780000000007 implements MigrationInterface {
  name = 'HistoryVacuum1780000000007';

  async up(db: QueryRunner): Promise<void> {
    await db.query(ensurePartitions(`${roomForChanges}, ${byCount}`));
    await db.query(`
      DO $$
      DECLARE
        part regclass;
      BEGIN
        FOR part IN SELECT relid FROM pg_partition_tree('request') WHERE isleaf LOOP
          EXECUTE format('ALTER TABLE %s SET (${byCount})', part);
        END LOOP;
      END
      $$`);
  }

  /** The days that there are keep their settings. */
  async down(db: QueryRunner): Promise<void> {
    await db.query(ensurePartitions(roomForChanges));
  }
}

/** As in the first migration, save for how a day's requests are stored. */
function ensurePartitions(requestStorage: string): string {
  return `
    CREATE OR REPLACE FUNCTION ensure_partitions(first_day date, days integer) RETURNS integer
    LANGUAGE plpgsql AS $$
    DECLARE
      parent text;
      part text;
      day date;
      low uuid;
      high uuid;
      made integer := 0;
    BEGIN
      FOR day IN SELECT first_day + n FROM generate_series(0, days - 1) AS n LOOP
        low := uuid_at(day::timestamp AT TIME ZONE 'UTC');
        high := uuid_at((day + 1)::timestamp AT TIME ZONE 'UTC');
        FOREACH parent IN ARRAY ARRAY['request', 'attempt', 'request_event'] LOOP
          part := parent || '_' || to_char(day, 'YYYYMMDD');
          IF to_regclass(part) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent);
            IF parent = 'request' THEN
              EXECUTE format('ALTER TABLE %I SET (${requestStorage})', part);
            END IF;
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           parent, part, low, high);
            made := made + 1;
          END IF;
        END LOOP;
      END LOOP;
      RETURN made;
    END
    $$`;
}
