import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A day's rows are vacuumed after so many dead ones, not after a share of the day, which by the evening would be
 * millions. That is cheap where the changes are HOT: room is left for them in attempts too, as in requests.
 */
export class HistoryVacuum1780000000007 implements MigrationInterface {
  name = 'HistoryVacuum1780000000007';

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE FUNCTION vacuum_by_count(part text) RETURNS void
      LANGUAGE plpgsql AS $$
      BEGIN
        IF part !~ '^request_event' THEN
          EXECUTE format('ALTER TABLE %I SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, '
                         'autovacuum_vacuum_threshold = 20000)', part);
        END IF;
      END
      $$`);
    await db.query(`
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
              PERFORM vacuum_by_count(part);
              EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                             parent, part, low, high);
              made := made + 1;
            END IF;
          END LOOP;
        END LOOP;
        RETURN made;
      END
      $$`);
    await db.query(`
      SELECT vacuum_by_count(relid::regclass::text)
      FROM unnest(ARRAY['request', 'attempt']) AS parent,
           pg_partition_tree(parent::regclass)
      WHERE isleaf`);
  }

  /** The days that there are keep their settings. */
  async down(db: QueryRunner): Promise<void> {
    await db.query(`
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
                EXECUTE format('ALTER TABLE %I SET (fillfactor = 70)', part);
              END IF;
              EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                             parent, part, low, high);
              made := made + 1;
            END IF;
          END LOOP;
        END LOOP;
        RETURN made;
      END
      $$`);
    await db.query(`DROP FUNCTION vacuum_by_count(text)`);
  }
}
