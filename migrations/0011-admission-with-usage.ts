import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `rate_admit_alone`, and how the caller's row stands after it: who knows that can count the next call by itself. */
export class AdmissionWithUsage1780000000011 implements MigrationInterface {
  name = 'AdmissionWithUsage1780000000011';

  async up(db: QueryRunner): Promise<void> {
    // A second statement of a function sees what the first has written. The version changes with every change of the
    // row; all ends are below 2^53.
    await db.query(`
      CREATE FUNCTION rate_admit_with_usage(for_subject text, for_class text, windows_ms bigint[], limits integer[],
                                            OUT granted integer, OUT remaining integer[], OUT reset_ms float8[],
                                            OUT version text, OUT ends float8[], OUT counts integer[])
      LANGUAGE plpgsql AS $$
      BEGIN
        SELECT a.granted, a.remaining, a.reset_ms
        INTO granted, remaining, reset_ms
        FROM rate_admit_alone(for_subject, for_class, windows_ms, limits) AS a;

        SELECT u.xmin::text, u.ends::float8[], u.counts
        INTO version, ends, counts
        FROM rate_usage u
        WHERE u.subject = for_subject AND u.route_class = for_class;
      END
      $$`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`DROP FUNCTION rate_admit_with_usage(text, text, bigint[], integer[])`);
  }
}
