import type { MigrationInterface, QueryRunner } from 'typeorm';

/** `rate_admit` as a loop over what is asked: most often that is one, for which a plan for many takes long. */
export class QuickAdmission1780000000006 implements MigrationInterface {
  name = 'QuickAdmission1780000000006';

  async up(db: QueryRunner): Promise<void> {
    // An entry stands for the admissions of 1/40 of a window, and leaves a window when its last admission does:
    // early never, late by 1/40 at most. When the entries have become many, those that are out of the smallest
    // window are joined to what the next one needs, so that history grows coarser with age.
    await db.query(`
      CREATE OR REPLACE FUNCTION rate_admit(asks json)
      RETURNS TABLE (ask integer, granted integer, at_us bigint, remaining integer[], reset_ms float8[],
                     bucket_left_ms float8)
      LANGUAGE plpgsql AS $$
      DECLARE
        a record;
        now_us bigint;
        grain_us bigint;
        longest_ms bigint;
        bucket_end_us bigint;
        last_us bigint;
        size integer;
        held_ends bigint[];
        held_counts integer[];
        used integer[];
        room integer;
        window_used integer;
        oldest_us bigint;
        given integer;
        set_back boolean;
      BEGIN
        -- Not waiting for the disk is safe: the WAL is in order, so a submission that was answered
        -- is on disk only together with its admission.
        PERFORM set_config('synchronous_commit', 'off', true);

        -- In one order for everybody, and each row had before the next is waited for: nobody deadlocks.
        FOR a IN
          SELECT r.ask, r.subject, r.route_class, r.wanted, r.spare, r.windows_ms, r.limits
          FROM json_to_recordset(asks) AS r (ask integer, subject text, route_class text, wanted integer,
                                             spare integer, windows_ms bigint[], limits integer[])
          ORDER BY r.subject COLLATE "C", r.route_class COLLATE "C"
        LOOP
          LOOP
            SELECT u.ends, u.counts INTO held_ends, held_counts
            FROM rate_usage u
            WHERE u.subject = a.subject AND u.route_class = a.route_class
            FOR UPDATE;
            EXIT WHEN FOUND;
            INSERT INTO rate_usage (subject, route_class) VALUES (a.subject, a.route_class) ON CONFLICT DO NOTHING;
          END LOOP;

          -- After the lock is held, or what was admitted meanwhile would be younger than now.
          now_us := extract(epoch FROM clock_timestamp()) * 1000000;
          grain_us := a.windows_ms[1] * 25;
          longest_ms := a.windows_ms[1];
          FOR i IN 2 .. cardinality(a.windows_ms) LOOP
            grain_us := least(grain_us, a.windows_ms[i] * 25);
            longest_ms := greatest(longest_ms, a.windows_ms[i]);
          END LOOP;
          bucket_end_us := now_us / grain_us * grain_us + grain_us;
          size := cardinality(held_ends);
          last_us := held_ends[size];
          -- An end after the current bucket means that the clock was set back: it counts as now.
          set_back := coalesce(last_us > bucket_end_us, false);

          room := NULL;
          used := '{}';
          reset_ms := '{}';
          FOR i IN 1 .. cardinality(a.windows_ms) LOOP
            window_used := 0;
            oldest_us := now_us;
            IF last_us > now_us - a.windows_ms[i] * 1000 THEN
              SELECT sum(e.count), min(least(e.end_us, bucket_end_us)) INTO window_used, oldest_us
              FROM unnest(held_ends, held_counts) AS e (end_us, count)
              WHERE e.end_us > now_us - a.windows_ms[i] * 1000;
            END IF;
            used[i] := window_used;
            reset_ms[i] := (oldest_us - now_us) / 1000.0 + a.windows_ms[i];
            room := least(room, greatest(a.limits[i] - window_used, 0));
          END LOOP;

          ask := a.ask;
          granted := least(a.wanted, room);
          given := granted;
          IF room > a.wanted THEN
            given := given + least(a.spare, (room - a.wanted) / 100);
          END IF;

          IF set_back OR (given > 0 AND size >= 50 * cardinality(a.windows_ms)) THEN
            SELECT array_agg(m.end_us ORDER BY m.end_us), array_agg(m.count ORDER BY m.end_us)
            INTO held_ends, held_counts
            FROM (
              SELECT max(e.end_us) AS end_us, sum(e.count)::integer AS count
              FROM (
                SELECT least(e.end_us, bucket_end_us) AS end_us, e.count
                FROM unnest(held_ends, held_counts) AS e (end_us, count)
                UNION ALL
                SELECT CASE WHEN given > granted THEN bucket_end_us ELSE now_us END, given
                WHERE given > 0
              ) AS e
              CROSS JOIN LATERAL (
                SELECT min(w.ms) * 25 AS grain_us
                FROM unnest(a.windows_ms) AS w (ms)
                WHERE e.end_us > now_us - w.ms * 1000
              ) AS w
              WHERE w.grain_us IS NOT NULL
              GROUP BY w.grain_us, (e.end_us - 1) / w.grain_us
            ) AS m;
          ELSIF last_us > bucket_end_us - grain_us THEN
            held_ends[size] := greatest(last_us, CASE WHEN given > granted THEN bucket_end_us ELSE now_us END);
            held_counts[size] := held_counts[size] + given;
          ELSE
            held_ends := held_ends || CASE WHEN given > granted THEN bucket_end_us ELSE now_us END;
            held_counts := held_counts || given;
          END IF;

          IF given > 0 OR set_back THEN
            UPDATE rate_usage u
            SET ends = coalesce(held_ends, '{}'), counts = coalesce(held_counts, '{}'),
                idle_at = to_timestamp((bucket_end_us / 1000 + longest_ms) / 1000.0)
            WHERE u.subject = a.subject AND u.route_class = a.route_class;
          END IF;

          granted := given;
          at_us := now_us;
          remaining := '{}';
          FOR i IN 1 .. cardinality(a.limits) LOOP
            remaining[i] := greatest(a.limits[i] - used[i] - given, 0);
          END LOOP;
          bucket_left_ms := (bucket_end_us - now_us) / 1000.0;
          RETURN NEXT;
        END LOOP;
      END
      $$`);
  }

  /** The function before it answers the same to the same question, so this one may stay. */
  async down(): Promise<void> {}
}
