import type { MigrationInterface, QueryRunner } from 'typeorm';
import { QuickAdmission1780000000006 } from './0006-quick-admission.js';

/**
 * Admissions wait for the disk like everything else, or a PostgreSQL that is killed would admit some twice; what is
 * taken ahead may be used until the end of the next bucket, so that it can be asked for before it is needed; and one
 * caller's can be counted in the statement that writes its submission.
 */
export class DurableAdmission1780000000009 implements MigrationInterface {
  name = 'DurableAdmission1780000000009';

  async up(db: QueryRunner): Promise<void> {
    // An entry stands for the admissions of 1/40 of a window, and leaves a window when its last admission does:
    // early never, late by 1/40 at most, or by two where some were taken ahead. When the entries have become many,
    // those that are out of the smallest window are joined to what the next one needs, so that history grows coarser
    // with age.
    await db.query(`
      CREATE FUNCTION rate_admit_one(for_subject text, for_class text, wanted integer, spare integer,
                                     windows_ms bigint[], limits integer[], may_wait boolean,
                                     OUT granted integer, OUT at_us bigint, OUT remaining integer[],
                                     OUT reset_ms float8[], OUT ahead_ms float8)
      LANGUAGE plpgsql AS $$
      DECLARE
        now_us bigint;
        grain_us bigint := windows_ms[1] * 25;
        longest_ms bigint := windows_ms[1];
        bucket_end_us bigint;
        horizon_us bigint;
        new_end_us bigint;
        last_us bigint;
        size integer;
        held_ends bigint[];
        held_counts integer[];
        used integer[];
        room integer;
        window_used integer;
        oldest_us bigint;
        set_back boolean;
      BEGIN
        LOOP
          IF may_wait THEN
            SELECT u.ends, u.counts INTO held_ends, held_counts
            FROM rate_usage u
            WHERE u.subject = for_subject AND u.route_class = for_class
            FOR UPDATE;
          ELSE
            SELECT u.ends, u.counts INTO held_ends, held_counts
            FROM rate_usage u
            WHERE u.subject = for_subject AND u.route_class = for_class
            FOR UPDATE SKIP LOCKED;
          END IF;
          EXIT WHEN FOUND;
          -- Somebody else counts for the subject just now: nothing is decided. To insert would wait for who changed it.
          IF NOT may_wait AND EXISTS (SELECT FROM rate_usage u
                                      WHERE u.subject = for_subject AND u.route_class = for_class) THEN
            RETURN;
          END IF;
          INSERT INTO rate_usage (subject, route_class) VALUES (for_subject, for_class) ON CONFLICT DO NOTHING;
          IF NOT FOUND AND NOT may_wait THEN
            RETURN;
          END IF;
        END LOOP;

        -- After the lock is held, or what was admitted meanwhile would be younger than now.
        now_us := extract(epoch FROM clock_timestamp()) * 1000000;
        FOR i IN 2 .. cardinality(windows_ms) LOOP
          grain_us := least(grain_us, windows_ms[i] * 25);
          longest_ms := greatest(longest_ms, windows_ms[i]);
        END LOOP;
        bucket_end_us := now_us / grain_us * grain_us + grain_us;
        horizon_us := bucket_end_us + grain_us;
        size := cardinality(held_ends);
        last_us := held_ends[size];
        -- An end after the horizon means that the clock was set back: it counts as of the horizon.
        set_back := coalesce(last_us > horizon_us, false);

        FOR i IN 1 .. cardinality(windows_ms) LOOP
          window_used := 0;
          oldest_us := now_us;
          IF last_us > now_us - windows_ms[i] * 1000 THEN
            SELECT sum(e.count), min(least(e.end_us, horizon_us)) INTO window_used, oldest_us
            FROM unnest(held_ends, held_counts) AS e (end_us, count)
            WHERE e.end_us > now_us - windows_ms[i] * 1000;
          END IF;
          used[i] := window_used;
          reset_ms[i] := (oldest_us - now_us) / 1000.0 + windows_ms[i];
          room := least(room, greatest(limits[i] - window_used, 0));
        END LOOP;

        granted := least(wanted, room);
        new_end_us := now_us;
        IF room > wanted AND least(spare, (room - wanted) / 100) > 0 THEN
          granted := granted + least(spare, (room - wanted) / 100);
          new_end_us := horizon_us;
        END IF;

        IF set_back OR (granted > 0 AND size >= 50 * cardinality(windows_ms)) THEN
          SELECT array_agg(m.end_us ORDER BY m.end_us), array_agg(m.count ORDER BY m.end_us)
          INTO held_ends, held_counts
          FROM (
            SELECT max(e.end_us) AS end_us, sum(e.count)::integer AS count
            FROM (
              SELECT least(e.end_us, horizon_us) AS end_us, e.count
              FROM unnest(held_ends, held_counts) AS e (end_us, count)
              UNION ALL
              SELECT new_end_us, granted
              WHERE granted > 0
            ) AS e
            CROSS JOIN LATERAL (
              SELECT min(w.ms) * 25 AS grain_us
              FROM unnest(windows_ms) AS w (ms)
              WHERE e.end_us > now_us - w.ms * 1000
            ) AS w
            WHERE w.grain_us IS NOT NULL
            GROUP BY w.grain_us, (e.end_us - 1) / w.grain_us
          ) AS m;
        ELSIF last_us >= new_end_us OR (last_us - 1) / grain_us = (new_end_us - 1) / grain_us THEN
          held_ends[size] := greatest(last_us, new_end_us);
          held_counts[size] := held_counts[size] + granted;
        ELSE
          held_ends := held_ends || new_end_us;
          held_counts := held_counts || granted;
        END IF;

        IF granted > 0 OR set_back THEN
          UPDATE rate_usage u
          SET ends = coalesce(held_ends, '{}'), counts = coalesce(held_counts, '{}'),
              idle_at = to_timestamp((horizon_us / 1000 + longest_ms) / 1000.0)
          WHERE u.subject = for_subject AND u.route_class = for_class;
        END IF;

        at_us := now_us;
        FOR i IN 1 .. cardinality(limits) LOOP
          remaining[i] := greatest(limits[i] - used[i] - granted, 0);
        END LOOP;
        ahead_ms := (horizon_us - now_us) / 1000.0;
      END
      $$`);

    // In one order for everybody, and each row had before the next is waited for: nobody deadlocks. The last column
    // has the name that nodes of the release before read it by.
    await db.query(`
      CREATE OR REPLACE FUNCTION rate_admit(asks json)
      RETURNS TABLE (ask integer, granted integer, at_us bigint, remaining integer[], reset_ms float8[],
                     bucket_left_ms float8)
      LANGUAGE plpgsql AS $$
      BEGIN
        RETURN QUERY
        SELECT a.ask, one.granted, one.at_us, one.remaining, one.reset_ms, one.ahead_ms
        FROM (
          SELECT *
          FROM json_to_recordset(asks) AS r (ask integer, subject text, route_class text, wanted integer,
                                             spare integer, windows_ms bigint[], limits integer[])
          ORDER BY r.subject COLLATE "C", r.route_class COLLATE "C"
        ) AS a
        CROSS JOIN LATERAL rate_admit_one(a.subject, a.route_class, a.wanted, a.spare, a.windows_ms, a.limits,
                                          true) AS one;
      END
      $$`);
  }

  async down(db: QueryRunner): Promise<void> {
    await new QuickAdmission1780000000006().up(db);
    await db.query(
      `DROP FUNCTION rate_admit_one(text, text, integer, integer, bigint[], integer[], boolean)`,
    );
  }
}
