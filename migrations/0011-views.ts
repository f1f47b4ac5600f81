import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Views for people who use psql. docs/database.md explains each one with example queries. */
export class Views1790000000111 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE VIEW queue_depth AS
      SELECT model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             coalesce(model.concurrency_override, model.concurrency) AS concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, virtual_start, seq
                      LIMIT 1) AS front_has_waited,
             coalesce(delayed.held, 0) AS held,
             model.paused
      FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*), count(*) FILTER (WHERE ready_at = 'infinity') AS held
                 FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id
      WHERE model.removed_at IS NULL OR waiting.count > 0 OR delayed.count > 0 OR running.count > 0;

      CREATE VIEW request_history AS
      SELECT request.id, request.model_id, api_key.name AS key_name,
             request.state, request.outcome, request.attempt AS attempts,
             request.error ->> 'code' AS error_code, request.error ->> 'message' AS error_message,
             request.created_at, request.started_at, request.completed_at,
             greatest(
               coalesce(request.started_at, request.completed_at, now()) - greatest(request.created_at, request.not_before),
               interval '0'
             ) AS queue_time,
             request.inference_ms * interval '1 millisecond' AS inference_time
      FROM request
      LEFT JOIN api_key ON api_key.id = request.api_key_id;

      -- What happened to a request, in the order of attempt, step and event_id.
      CREATE VIEW request_timeline AS
      SELECT request_id, started_at AS at, 'started' AS kind, attempt, NULL::text AS level, NULL::text AS source,
             NULL::text AS message, NULL::timestamptz AS paused_until, 1 AS step, NULL::bigint AS event_id
      FROM (SELECT request_id, attempt, started_at FROM attempt
            UNION ALL
            SELECT request_id, attempt, started_at FROM lease) AS run
      UNION ALL
      SELECT request_id, at, kind, attempt, level, source, message, paused_until, 2, id FROM request_event
      UNION ALL
      SELECT id, created_at, 'submitted', 0, NULL, NULL, NULL, NULL, 0, NULL FROM request
      UNION ALL
      SELECT id, completed_at, 'completed', attempt, NULL, NULL, NULL, NULL, 3, NULL FROM request
      WHERE state = 'COMPLETED';

      CREATE VIEW model_stats AS
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
      FROM request
      WHERE id >= uuid_at(now() - interval '1 hour')
        AND state = 'COMPLETED'
      GROUP BY model_id;

      CREATE VIEW running_now AS
      SELECT lease.request_id, lease.model_id, lease.attempt, coalesce(node.name, worker.name, 'lost') AS node,
             lease.started_at, clock_timestamp() - lease.started_at AS running_for,
             lease.deadline_at, lease.cancel_requested_at
      FROM lease
      LEFT JOIN node ON node.id = lease.node_id
      LEFT JOIN worker ON worker.uid = lease.worker_id;

      CREATE VIEW model_availability AS
      SELECT model.id AS model_id,
             count(DISTINCT node.id) AS nodes,
             count(DISTINCT circuit.node_id) AS nodes_without,
             count(DISTINCT circuit.node_id) < count(DISTINCT node.id) AS is_available,
             min(circuit.outage_since) AS since,
             string_agg(DISTINCT circuit.address, ', ') AS addresses,
             string_agg(DISTINCT circuit.reason, ' ') AS reasons
      FROM model
      LEFT JOIN node ON node.role <> 'api' AND node.draining_since IS NULL
      LEFT JOIN circuit ON circuit.model_id = model.id AND circuit.node_id = node.id AND circuit.yields_slots
      WHERE model.removed_at IS NULL
      GROUP BY model.id;

      -- What each key gets of a model. A run that never reached its model is none that a key had of it.
      CREATE VIEW key_shares AS
      WITH waiting AS (
        SELECT model_id, api_key_id, count(*) AS waiting, count(*) FILTER (WHERE is_held) AS held
        FROM (SELECT model_id, api_key_id, false AS is_held FROM queue_entry
              UNION ALL
              SELECT model_id, api_key_id, ready_at = 'infinity' FROM delayed_entry WHERE NOT is_scheduled) AS entry
        GROUP BY model_id, api_key_id
      ), run AS (
        SELECT request.model_id, request.api_key_id, lease.started_at, clock_timestamp() AS ended_at, true AS is_running
        FROM lease
        JOIN request ON request.id = lease.request_id
        UNION ALL
        SELECT request.model_id, request.api_key_id, attempt.started_at, attempt.ended_at, false
        FROM attempt
        JOIN request ON request.id = attempt.request_id
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
      WINDOW of_model AS (PARTITION BY model_id);

      CREATE VIEW rate_limit_usage AS
      SELECT subject, route_class, policy, array_agg(shares ORDER BY n) AS shares, array_agg(used ORDER BY n) AS used
      FROM (SELECT subject, route_class, policy, n, sum(w.shares) AS shares, sum(w.used) AS used
            FROM limit_share
            CROSS JOIN LATERAL unnest(shares, used) WITH ORDINALITY AS w (shares, used, n)
            GROUP BY subject, route_class, policy, n) AS of_all_holders
      GROUP BY subject, route_class, policy`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW rate_limit_usage, key_shares, model_availability, running_now, model_stats, request_timeline,
                request_history, queue_depth`);
}
