import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The parts of streamed outputs, as short-lived rows. */
export class Output1790000000109 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE TABLE output_delta (
        request_id uuid NOT NULL,
        attempt integer NOT NULL,
        index integer NOT NULL,
        at timestamptz NOT NULL DEFAULT now(),
        delta json NOT NULL,
        PRIMARY KEY (request_id, attempt, index, at)
      ) PARTITION BY RANGE (at);

      -- Those of the ten minutes before, of now and of the hour to come. Nothing is vacuumed: all go with their table.
      CREATE FUNCTION ensure_output_partitions(at timestamptz) RETURNS integer
      LANGUAGE plpgsql AS $$
      DECLARE
        first timestamptz := date_bin('10 minutes', at, timestamptz 'epoch') - interval '10 minutes';
        start timestamptz;
        part text;
        made integer := 0;
      BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('ensure_output_partitions'));
        FOR start IN SELECT generate_series(first, first + interval '70 minutes', '10 minutes') LOOP
          part := 'output_delta_' || to_char(start AT TIME ZONE 'UTC', 'YYYYMMDDHH24MI');
          CONTINUE WHEN to_regclass(part) IS NOT NULL;
          EXECUTE format('CREATE TABLE %I (LIKE output_delta INCLUDING ALL) WITH (autovacuum_enabled = false)', part);
          EXECUTE format('ALTER TABLE output_delta ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', part,
                         start, start + interval '10 minutes');
          made := made + 1;
        END LOOP;
        RETURN made;
      END
      $$`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP FUNCTION ensure_output_partitions(timestamptz);
      DROP TABLE output_delta`);
}
