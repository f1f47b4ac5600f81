import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people look at with psql; docs/database.md explains each and shows what to ask. */
export class Views1790000000014 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      CREATE VIEW queue_depth AS
      SELECT model.id AS model_id,
             coalesce(waiting.count, 0) AS waiting,
             coalesce(delayed.count, 0) AS delayed,
             coalesce(running.count, 0) AS running,
             model.concurrency,
             now() - (SELECT uuid_time(request_id) FROM queue_entry
                      WHERE queue_entry.model_id = model.id
                      ORDER BY model_id, priority, seq
                      LIMIT 1) AS front_has_waited
      FROM model
      LEFT JOIN (SELECT model_id, count(*) FROM queue_entry GROUP BY model_id) AS waiting ON waiting.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM delayed_entry GROUP BY model_id) AS delayed ON delayed.model_id = model.id
      LEFT JOIN (SELECT model_id, count(*) FROM lease GROUP BY model_id) AS running ON running.model_id = model.id;

      CREATE VIEW request_history AS
      SELECT request.id, request.model_id, api_key.name AS key_name,
             request.state, request.outcome, request.attempt AS attempts,
             request.error ->> 'code' AS error_code, request.error ->> 'message' AS error_message,
             request.created_at, request.started_at, request.completed_at,
             coalesce(request.started_at, request.completed_at, now()) - request.created_at AS queue_time,
             request.inference_ms * interval '1 millisecond' AS inference_time
      FROM request
      LEFT JOIN api_key ON api_key.id = request.api_key_id;

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
      SELECT lease.request_id, lease.model_id, lease.attempt, coalesce(node.name, 'lost') AS node,
             lease.started_at, clock_timestamp() - lease.started_at AS running_for,
             lease.deadline_at, lease.cancel_requested_at
      FROM lease
      LEFT JOIN node ON node.id = lease.node_id;

      CREATE VIEW rate_limit_usage AS
      SELECT subject, route_class, policy, array_agg(shares ORDER BY n) AS shares, array_agg(used ORDER BY n) AS used
      FROM (SELECT subject, route_class, policy, n, sum(w.shares) AS shares, sum(w.used) AS used
            FROM limit_share
            CROSS JOIN LATERAL unnest(shares, used) WITH ORDINALITY AS w (shares, used, n)
            GROUP BY subject, route_class, policy, n) AS of_all_holders
      GROUP BY subject, route_class, policy`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`DROP VIEW rate_limit_usage, running_now, model_stats, request_history, queue_depth`);
}
