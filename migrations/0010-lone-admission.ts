import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The call of a submission that is written alone is most often plain: one statement decides and counts it. */
export class LoneAdmission1780000000010 implements MigrationInterface {
  name = 'LoneAdmission1780000000010';

  async up(db: QueryRunner): Promise<void> {
    // Plain is: there is room, the caller has a row that nobody holds, its clock was not set back, nothing of it was
    // taken ahead, and its entries are not so many that they are to be joined. What it counts then is what
    // `rate_admit_one` would count, which decides everything else.
    await db.query(`
      CREATE FUNCTION rate_admit_alone(for_subject text, for_class text, windows_ms bigint[], limits integer[],
                                       OUT granted integer, OUT remaining integer[], OUT reset_ms float8[])
      LANGUAGE plpgsql AS $$
      BEGIN
        WITH held AS MATERIALIZED (
          SELECT u.ends, u.counts
          FROM rate_usage u
          WHERE u.subject = for_subject AND u.route_class = for_class
          FOR UPDATE SKIP LOCKED
        ), seen AS MATERIALIZED (
          -- After the lock is held, or what was admitted meanwhile would be younger than now.
          SELECT h.ends, h.counts, cardinality(h.ends) AS size,
                 (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now_us
          FROM held h
        ), room AS MATERIALIZED (
          SELECT array_agg(w.most - e.used - 1 ORDER BY w.i) AS remaining,
                 array_agg((e.oldest_us - s.now_us + w.ms * 1000) / 1000::float8 ORDER BY w.i) AS reset_ms,
                 min(w.most - e.used) AS least, min(w.ms) * 25 AS grain_us, max(w.ms) AS longest_ms
          FROM seen s
          CROSS JOIN unnest(windows_ms, limits) WITH ORDINALITY AS w (ms, most, i)
          CROSS JOIN LATERAL (
            SELECT coalesce(sum(h.count), 0)::integer AS used, coalesce(min(h.end_us), s.now_us) AS oldest_us
            FROM unnest(s.ends, s.counts) AS h (end_us, count)
            WHERE h.end_us > s.now_us - w.ms * 1000
          ) AS e
        ), plain AS MATERIALIZED (
          SELECT s.*, r.*, (s.ends[s.size] - 1) / r.grain_us = (s.now_us - 1) / r.grain_us AS in_last
          FROM seen s
          CROSS JOIN room r
          WHERE r.least > 0 AND s.ends[s.size] <= s.now_us AND s.size < 50 * cardinality(windows_ms)
        )
        UPDATE rate_usage u
        SET ends = CASE WHEN p.in_last THEN p.ends[:p.size - 1] ELSE p.ends END || p.now_us,
            counts = CASE WHEN p.in_last THEN p.counts[:p.size - 1] || p.counts[p.size] + 1 ELSE p.counts || 1 END,
            idle_at = to_timestamp(((p.now_us / p.grain_us + 2) * p.grain_us / 1000 + p.longest_ms) / 1000.0)
        FROM plain p
        WHERE u.subject = for_subject AND u.route_class = for_class
        RETURNING 1, p.remaining, p.reset_ms
        INTO granted, remaining, reset_ms;

        IF NOT FOUND THEN
          SELECT one.granted, one.remaining, one.reset_ms
          INTO granted, remaining, reset_ms
          FROM rate_admit_one(for_subject, for_class, 1, 0, windows_ms, limits, false) AS one;
        END IF;
      END
      $$`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`DROP FUNCTION rate_admit_alone(text, text, bigint[], integer[])`);
  }
}
