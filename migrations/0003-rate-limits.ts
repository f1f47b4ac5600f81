import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was admitted lately, per key or address and class of routes, and the function that admits. */
export class RateLimits1780000000003 implements MigrationInterface {
  name = 'RateLimits1780000000003';

  async up(db: QueryRunner): Promise<void> {
    // ends[i]: microseconds since 1970 of the last of the counts[i] admissions that one entry stands for.
    await db.query(`
      CREATE TABLE rate_usage (
        subject text NOT NULL,
        route_class text NOT NULL,
        ends bigint[] NOT NULL DEFAULT '{}',
        counts integer[] NOT NULL DEFAULT '{}',
        idle_at timestamptz NOT NULL DEFAULT now() + interval '1 minute',
        CONSTRAINT rate_usage_pkey PRIMARY KEY (subject, route_class),
        CONSTRAINT rate_usage_every_end_has_a_count CHECK (cardinality(ends) = cardinality(counts))
      ) WITH (fillfactor = 50,
              autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500,
              autovacuum_analyze_scale_factor = 0.5, autovacuum_analyze_threshold = 10000)`);

    // An entry stands for the admissions of 1/40 of a window, and leaves a window when its last admission does:
    // early never, late by 1/40 at most. When the entries have become many, those that are out of the smallest
    // window are joined to what the next one needs, so that history grows coarser with age.
    await db.query(`
      CREATE FUNCTION rate_admit(asks json)
      RETURNS TABLE (ask integer, granted integer, at_us bigint, remaining integer[], reset_ms float8[],
                     bucket_left_ms float8)
      LANGUAGE plpgsql AS $$
      #variable_conflict use_column
      DECLARE
        now_us bigint;
        locked integer;
      BEGIN
        -- Not waiting for the disk is safe: the WAL is in order, so a submission that was answered
        -- is on disk only together with its admission.
        PERFORM set_config('synchronous_commit', 'off', true);

        INSERT INTO rate_usage (subject, route_class)
        SELECT a.subject, a.route_class
        FROM json_to_recordset(asks) AS a (subject text, route_class text)
        ORDER BY a.subject COLLATE "C", a.route_class COLLATE "C"
        ON CONFLICT DO NOTHING;

        PERFORM 1
        FROM json_to_recordset(asks) AS a (subject text, route_class text)
        JOIN rate_usage u USING (subject, route_class)
        ORDER BY a.subject COLLATE "C", a.route_class COLLATE "C"
        FOR UPDATE OF u;
        GET DIAGNOSTICS locked = ROW_COUNT;
        -- A row was pruned between the two statements. Nothing was counted: the caller asks again, because
        -- waiting for a new row while holding others could deadlock.
        IF locked < json_array_length(asks) THEN
          RETURN;
        END IF;

        now_us := extract(epoch FROM clock_timestamp()) * 1000000;
        RETURN QUERY
        WITH ask AS MATERIALIZED (
          SELECT a.ask, a.subject, a.route_class, a.wanted, a.spare, a.windows_ms, a.limits, u.ends, u.counts,
                 g.grain_us, now_us / g.grain_us * g.grain_us + g.grain_us AS bucket_end_us
          FROM json_to_recordset(asks) AS a (ask integer, subject text, route_class text, wanted integer,
                                             spare integer, windows_ms bigint[], limits integer[])
          JOIN rate_usage u USING (subject, route_class)
          CROSS JOIN LATERAL (SELECT min(ms) * 25 AS grain_us FROM unnest(a.windows_ms) AS ms) AS g
        ), room AS MATERIALIZED (
          SELECT a.*, w.room, w.used, w.oldest_us
          FROM ask a
          CROSS JOIN LATERAL (
            SELECT min(greatest(w.quota - e.used, 0)) AS room,
                   array_agg(e.used ORDER BY w.n) AS used,
                   array_agg(e.oldest_us ORDER BY w.n) AS oldest_us
            FROM unnest(a.windows_ms, a.limits) WITH ORDINALITY AS w (ms, quota, n)
            CROSS JOIN LATERAL (
              SELECT coalesce(sum(count), 0)::integer AS used,
                     coalesce(min(least(end_us, a.bucket_end_us)), now_us) AS oldest_us
              FROM unnest(a.ends, a.counts) AS e (end_us, count)
              WHERE end_us > now_us - w.ms * 1000
            ) AS e
          ) AS w
        ), given AS MATERIALIZED (
          SELECT r.*, least(wanted, room) AS admitted,
                 CASE WHEN room > wanted THEN least(spare, (room - wanted) / 100) ELSE 0 END AS extra
          FROM room r
        ), written AS (
          UPDATE rate_usage u
          SET ends = h.ends, counts = h.counts,
              idle_at = to_timestamp((g.bucket_end_us / 1000
                                      + (SELECT max(ms) FROM unnest(g.windows_ms) AS ms)) / 1000.0)
          FROM given g
          CROSS JOIN LATERAL (
            SELECT CASE WHEN g.extra > 0 THEN g.bucket_end_us ELSE now_us END AS end_us,
                   g.admitted + g.extra AS count,
                   cardinality(g.ends) AS size,
                   g.ends[cardinality(g.ends)] AS last_us,
                   -- An end after the current bucket means that the clock was set back: it counts as now.
                   coalesce(g.ends[cardinality(g.ends)] > g.bucket_end_us, false) AS set_back
          ) AS n
          CROSS JOIN LATERAL (
            SELECT n.set_back OR n.size >= 50 * cardinality(g.windows_ms) AS rewrite,
                   coalesce(n.last_us > g.bucket_end_us - g.grain_us, false) AS same_bucket
          ) AS how
          CROSS JOIN LATERAL (
            SELECT CASE WHEN how.same_bucket
                        THEN g.ends[:n.size - 1] || greatest(n.last_us, n.end_us)
                        ELSE g.ends || n.end_us END AS ends,
                   CASE WHEN how.same_bucket
                        THEN g.counts[:n.size - 1] || g.counts[n.size] + n.count
                        ELSE g.counts || n.count END AS counts
            WHERE NOT how.rewrite
            UNION ALL
            SELECT array_agg(m.end_us ORDER BY m.end_us), array_agg(m.count ORDER BY m.end_us)
            FROM (
              SELECT max(e.end_us) AS end_us, sum(e.count)::integer AS count
              FROM (
                SELECT least(end_us, g.bucket_end_us) AS end_us, count
                FROM unnest(g.ends, g.counts) AS e (end_us, count)
                UNION ALL
                SELECT n.end_us, n.count
                WHERE n.count > 0
              ) AS e
              CROSS JOIN LATERAL (
                SELECT min(ms) * 25 AS grain_us
                FROM unnest(g.windows_ms) AS ms
                WHERE e.end_us > now_us - ms * 1000
              ) AS w
              WHERE w.grain_us IS NOT NULL
              GROUP BY w.grain_us, (e.end_us - 1) / w.grain_us
            ) AS m
            HAVING how.rewrite
          ) AS h
          WHERE u.subject = g.subject AND u.route_class = g.route_class AND (n.count > 0 OR n.set_back)
        )
        SELECT g.ask, g.admitted + g.extra, now_us,
               ARRAY(SELECT greatest(quota - used - g.admitted - g.extra, 0)
                     FROM unnest(g.limits, g.used) WITH ORDINALITY AS w (quota, used, n) ORDER BY n),
               ARRAY(SELECT ((oldest_us - now_us) / 1000.0 + ms)::float8
                     FROM unnest(g.windows_ms, g.oldest_us) WITH ORDINALITY AS w (ms, oldest_us, n) ORDER BY n),
               ((g.bucket_end_us - now_us) / 1000.0)::float8
        FROM given g;
      END
      $$`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`DROP FUNCTION rate_admit(json)`);
    await db.query(`DROP TABLE rate_usage`);
  }
}
