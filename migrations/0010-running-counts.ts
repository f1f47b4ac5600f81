import type { MigrationInterface, QueryRunner } from 'typeorm';
import { DurableAdmission1780000000009 } from './0009-durable-admission.js';

/**
 * What a window has used is one subtraction: the entries keep running counts, and the first entry of a window is found
 * by halving. To add up all entries had been half of what it takes to count a call.
 */
export class RunningCounts1780000000010 implements MigrationInterface {
  name = 'RunningCounts1780000000010';

  async up(db: QueryRunner): Promise<void> {
    // counts[i]: from now on of all admissions up to ends[i] that the entries stand for.
    await db.query(`LOCK TABLE rate_usage`);
    await db.query(`
      UPDATE rate_usage
      SET counts = (SELECT coalesce(array_agg(total ORDER BY n), '{}')
                    FROM (SELECT n, (sum(count) OVER (ORDER BY n))::integer AS total
                          FROM unnest(counts) WITH ORDINALITY AS e (count, n)) AS running)`);

    // An entry stands for the admissions of 1/40 of a window, and leaves a window when its last admission does:
    // early never, late by 1/40 at most, or by two where some were taken ahead. When the entries have become many,
    // those that are out of the smallest window are joined to what the next one needs, so that history grows coarser
    // with age.
    await db.query(`
      CREATE OR REPLACE FUNCTION rate_admit_one(for_subject text, for_class text, wanted integer, spare integer,
                                                windows_ms bigint[], limits integer[], may_wait boolean,
                                                OUT granted integer, OUT at_us bigint, OUT remaining integer[],
                                                OUT reset_ms float8[], OUT ahead_ms float8)
      LANGUAGE plpgsql AS $$
      DECLARE
        held_ends bigint[];
        held_counts integer[];
        size integer;
        last_us bigint;
        total integer;
        grain_us bigint := windows_ms[1] * 25;
        longest_ms bigint := windows_ms[1];
        horizon_us bigint;
        new_end_us bigint;
        outside integer;
        used integer[];
        room integer;
        ahead integer;
        joined boolean := false;
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
        at_us := extract(epoch FROM clock_timestamp()) * 1000000;
        FOR i IN 2 .. cardinality(windows_ms) LOOP
          grain_us := least(grain_us, windows_ms[i] * 25);
          longest_ms := greatest(longest_ms, windows_ms[i]);
        END LOOP;
        horizon_us := at_us / grain_us * grain_us + 2 * grain_us;
        size := cardinality(held_ends);

        -- An end after the horizon means that the clock was set back: it counts as of the horizon.
        IF size >= 50 * cardinality(windows_ms) OR held_ends[size] > horizon_us OR held_counts[size] > 1000000000 THEN
          SELECT coalesce(array_agg(m.end_us ORDER BY m.end_us), '{}'),
                 coalesce(array_agg(m.count ORDER BY m.end_us), '{}')
          INTO held_ends, held_counts
          FROM (
            SELECT max(e.end_us) AS end_us, (sum(sum(e.count)) OVER (ORDER BY max(e.end_us)))::integer AS count
            FROM (
              SELECT least(h.end_us, horizon_us) AS end_us,
                     h.count - lag(h.count, 1, 0) OVER (ORDER BY h.n) AS count
              FROM unnest(held_ends, held_counts) WITH ORDINALITY AS h (end_us, count, n)
            ) AS e
            CROSS JOIN LATERAL (
              SELECT min(w.ms) * 25 AS grain_us
              FROM unnest(windows_ms) AS w (ms)
              WHERE e.end_us > at_us - w.ms * 1000
            ) AS w
            WHERE w.grain_us IS NOT NULL
            GROUP BY w.grain_us, (e.end_us - 1) / w.grain_us
          ) AS m;
          size := cardinality(held_ends);
          joined := true;
        END IF;
        last_us := held_ends[size];
        total := coalesce(held_counts[size], 0);

        FOR i IN 1 .. cardinality(windows_ms) LOOP
          outside := width_bucket(at_us - windows_ms[i] * 1000, held_ends);
          used[i] := total - coalesce(held_counts[outside], 0);
          reset_ms[i] := (coalesce(held_ends[outside + 1], at_us) - at_us) / 1000.0 + windows_ms[i];
          room := least(room, greatest(limits[i] - used[i], 0));
        END LOOP;

        granted := least(wanted, room);
        ahead := least(spare, (room - wanted) / 100);
        IF ahead > 0 THEN
          granted := granted + ahead;
          new_end_us := horizon_us;
        ELSE
          new_end_us := at_us;
        END IF;

        IF granted > 0 THEN
          IF last_us >= new_end_us OR (last_us - 1) / grain_us = (new_end_us - 1) / grain_us THEN
            held_ends[size] := greatest(last_us, new_end_us);
            held_counts[size] := total + granted;
          ELSE
            held_ends := held_ends || new_end_us;
            held_counts := held_counts || (total + granted);
          END IF;
        END IF;
        IF granted > 0 OR joined THEN
          UPDATE rate_usage u
          SET ends = held_ends, counts = held_counts,
              idle_at = to_timestamp((horizon_us / 1000 + longest_ms) / 1000.0)
          WHERE u.subject = for_subject AND u.route_class = for_class;
        END IF;

        FOR i IN 1 .. cardinality(limits) LOOP
          remaining[i] := greatest(limits[i] - used[i] - granted, 0);
        END LOOP;
        ahead_ms := (horizon_us - at_us) / 1000.0;
      END
      $$`);
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query(`LOCK TABLE rate_usage`);
    await db.query(`
      UPDATE rate_usage
      SET counts = (SELECT coalesce(array_agg(count ORDER BY n), '{}')
                    FROM (SELECT n, total - lag(total, 1, 0) OVER (ORDER BY n) AS count
                          FROM unnest(counts) WITH ORDINALITY AS e (total, n)) AS single)`);
    await db.query(
      `DROP FUNCTION rate_admit_one(text, text, integer, integer, bigint[], integer[], boolean)`,
    );
    await new DurableAdmission1780000000009().up(db);
  }
}
