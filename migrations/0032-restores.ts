import type { MigrationInterface, QueryRunner } from 'typeorm';

const statsOf = (table: string): string => `
      CREATE OR REPLACE VIEW model_stats AS
      SELECT model_id,
             count(*) AS completed,
             count(*) FILTER (WHERE outcome = 'succeeded') AS succeeded,
             count(*) FILTER (WHERE outcome = 'failed') AS failed,
             count(*) FILTER (WHERE outcome = 'cancelled') AS cancelled,
             count(*) FILTER (WHERE outcome = 'expired') AS expired,
             round(avg(attempt) FILTER (WHERE attempt > 0), 2) AS attempts_a_request,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY inference_ms) * interval '1 millisecond' AS inference_p50,
             percentile_cont(0.95) WITHIN GROUP (ORDER BY inference_ms) * interval '1 millisecond' AS inference_p95,
             percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at)) * interval '1 second'
               AS queue_p50,
             percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM started_at - created_at)) * interval '1 second'
               AS queue_p95
      FROM ${table} AS request
      WHERE id >= uuid_at(now() - interval '1 hour')
        AND state = 'COMPLETED'
      GROUP BY model_id;`;

const sharesOf = (requests: string, attempts: string): string => `
      CREATE OR REPLACE VIEW key_shares AS
      WITH waiting AS (
        SELECT model_id, api_key_id, count(*) AS waiting, count(*) FILTER (WHERE is_held) AS held
        FROM (SELECT model_id, api_key_id, false AS is_held FROM queue_entry
              UNION ALL
              SELECT model_id, api_key_id, ready_at = 'infinity' FROM delayed_entry WHERE NOT is_scheduled) AS entry
        GROUP BY model_id, api_key_id
      ), run AS (
        SELECT request.model_id, request.api_key_id, lease.started_at, clock_timestamp() AS ended_at, true AS is_running
        FROM lease
        JOIN ${requests} AS request ON request.id = lease.request_id
        UNION ALL
        SELECT request.model_id, request.api_key_id, attempt.started_at, attempt.ended_at, false
        FROM ${attempts} AS attempt
        JOIN ${requests} AS request ON request.id = attempt.request_id
        WHERE attempt.request_id >= uuid_at(now() - interval '1 day')
          AND attempt.ended_at > now() - interval '1 hour' AND attempt.outcome <> 'unreached'
      ), used AS (
        SELECT model_id, api_key_id,
               count(*) FILTER (WHERE is_running) AS running,
               count(*) FILTER (WHERE started_at > now() - interval '1 hour') AS starts_last_hour,
               sum(extract(epoch FROM ended_at - greatest(started_at, now() - interval '1 hour'))) AS run_seconds
        FROM run
        GROUP BY model_id, api_key_id
      )
      SELECT model_id, api_key_id, api_key.name AS key_name, api_key.weight, api_key.max_running,
             coalesce(waiting.waiting, 0) AS waiting,
             coalesce(waiting.held, 0) AS held,
             coalesce(used.running, 0) AS running,
             coalesce(round(used.running / nullif(sum(used.running) OVER of_model, 0), 3), 0) AS share_now,
             coalesce(used.starts_last_hour, 0) AS starts_last_hour,
             coalesce(round(used.run_seconds, 3), 0) AS run_seconds_last_hour,
             coalesce(round(used.run_seconds / nullif(sum(used.run_seconds) OVER of_model, 0), 3), 0)
               AS share_last_hour
      FROM waiting
      FULL JOIN used USING (model_id, api_key_id)
      LEFT JOIN api_key ON api_key.id = api_key_id
      WINDOW of_model AS (PARTITION BY model_id);`;

const boundOf = (attempts: string): string => `
      -- Bounds the view to the last 14 days and all days from that of the oldest open request on. The bound may rise at
      -- any time, because an open request was open before, or is new: a late bound is only too low. It is an OR of two
      -- operators, so that the planner prunes partitions by it, but never reads an index by it. A view that long
      -- statements lock keeps its bound until the next round.
      CREATE OR REPLACE FUNCTION bound_recent_request() RETURNS void
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
        END IF;${attempts}
      EXCEPTION WHEN lock_not_available THEN
        NULL;
      END
      $$;`;

const refusalsOf = (actions: string): string => `
      CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'DELETE' THEN
            IF OLD.action IN (${actions}) AND OLD.at < now() - interval '90 days'
               OR OLD.action IN ('session.begin', 'session.end', 'payload.read', 'secret.read', 'audit.export')
                  AND OLD.at < now() - interval '400 days' THEN
              RETURN OLD;
            END IF;
          END IF;
          RAISE EXCEPTION 'audit_entry takes new rows only';
        END $$;`;

/** What a restore needs: ids of events that do not repeat, and erasures by callers in the audit. Bounds of views. */
export class Restores1790000000132 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';

      -- Skips the ids of events that may have been handed out after the backup from which the database was restored. A
      -- restored database does not know that it is one. But the backup has no sign of a node later than itself. So a
      -- start without a sign of another node skips 10,000 ids for each second since the last sign. Ids stay below half
      -- the milliseconds since 1970, because a stream orders twice an id before the time of the completion. Returns the
      -- time of the last sign, or null if it skipped nothing.
      CREATE FUNCTION skip_event_ids() RETURNS timestamptz
      LANGUAGE plpgsql AS $$
      DECLARE
        last_sign timestamptz;
        silent_for interval;
        next bigint;
        wanted bigint;
      BEGIN
        -- Nodes that start at once skip one after the other.
        PERFORM pg_advisory_xact_lock(hashtext('skip_event_ids'));
        last_sign := greatest((SELECT max(heartbeat_at) FROM node),
                              (SELECT uuid_time(id) FROM recent_request ORDER BY id DESC LIMIT 1));
        silent_for := clock_timestamp() - last_sign;
        IF silent_for > interval '6 seconds' THEN
          next := nextval('request_event_id');
          wanted := least(next + (extract(epoch FROM silent_for) * 10000)::bigint,
                          (extract(epoch FROM clock_timestamp()) * 500)::bigint - 1000000000);
          IF wanted > next THEN
            PERFORM setval('request_event_id', wanted);
          END IF;
          RETURN last_sign;
        END IF;
        RETURN NULL;
      END
      $$;

      -- What callers erase leaves the audit after 90 days, because they can erase any number of requests.
      ${refusalsOf(`'access.refuse', 'session.refuse', 'request.delete', 'file.delete'`)}

      CREATE VIEW recent_attempt AS SELECT * FROM attempt;
      ${boundOf(`
        IF strpos(pg_get_viewdef('recent_attempt'::regclass), first_id::text) = 0 THEN
          EXECUTE format('CREATE OR REPLACE VIEW recent_attempt AS
                          SELECT * FROM attempt WHERE request_id > %1$L OR request_id = %1$L', first_id);
        END IF;`)}
      SELECT bound_recent_request();
      ${statsOf('recent_request')}
      ${sharesOf('recent_request', 'recent_attempt')}`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ${sharesOf('request', 'attempt')}
      ${statsOf('request')}
      ${boundOf('')}
      DROP VIEW recent_attempt;
      ${refusalsOf(`'access.refuse', 'session.refuse'`)}
      DROP FUNCTION skip_event_ids()`);
}
