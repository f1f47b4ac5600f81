import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A view of the days that may hold open requests, for the statements that do not know the ids beforehand. A plan over
 * it locks only these days. A migration that adds a column to `request` replaces the view by one without a bound, and
 * the next round of the partition keeper bounds it again.
 */
export class RecentRequests1790000000119 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE VIEW recent_request AS SELECT * FROM request;

      -- Bounds the view to the last 14 days and all days from that of the oldest open request on. The bound may rise at
      -- any time, because an open request was open before, or is new: a late bound is only too low. It is an OR of two
      -- operators, so that the planner prunes partitions by it, but never reads an index by it. A view that long
      -- statements lock keeps its bound until the next round.
      CREATE FUNCTION bound_recent_request() RETURNS void
      LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
      DECLARE
        first_id uuid := uuid_at(date_trunc('day', clock_timestamp(), 'UTC') - interval '14 days');
        oldest uuid;
      BEGIN
        SELECT request_id INTO oldest
        FROM (
          SELECT request_id FROM queue_entry
          UNION ALL
          SELECT request_id FROM delayed_entry
          UNION ALL
          SELECT request_id FROM lease
        ) AS open
        WHERE request_id < first_id
        ORDER BY request_id LIMIT 1;
        IF FOUND THEN
          first_id := uuid_at(date_trunc('day', uuid_time(oldest), 'UTC'));
        END IF;
        IF strpos(pg_get_viewdef('recent_request'::regclass), first_id::text) = 0 THEN
          EXECUTE format('CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request WHERE id > %1$L OR id = %1$L',
                         first_id);
        END IF;
      EXCEPTION WHEN lock_not_available THEN
        NULL;
      END
      $$;
      SELECT bound_recent_request()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP FUNCTION bound_recent_request();
      DROP VIEW recent_request`);
}
