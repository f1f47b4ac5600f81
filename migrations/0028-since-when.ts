import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What operators want to know afterwards: until when, since when, and who was there. */
export class SinceWhen1790000000038 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      -- Of what was requeued: when the pause before its next attempt is over.
      ALTER TABLE request_event ADD COLUMN paused_until timestamptz;
      -- Since when a node or another has found the model away, without a break; null: written by the release before.
      ALTER TABLE circuit ADD COLUMN outage_since timestamptz;
      -- Of a node that was given up, what it was; null: it was not.
      ALTER TABLE node_name
        ADD COLUMN lost_at timestamptz,
        ADD COLUMN lost_node jsonb,
        ADD CONSTRAINT node_name_of_a_lost_node_says_what_it_was CHECK ((lost_at IS NULL) = (lost_node IS NULL)) NOT VALID;
      CREATE INDEX node_name_lost ON node_name (lost_at) WHERE lost_at IS NOT NULL;

      ${replaceAvailability('min(coalesce(circuit.outage_since, circuit.since))')};
      ${replaceShares(` AND attempt.outcome <> 'unreached'`)}`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ${replaceAvailability('min(circuit.since)')};
      ${replaceShares('')};
      ALTER TABLE node_name DROP COLUMN lost_at, DROP COLUMN lost_node;
      ALTER TABLE circuit DROP COLUMN outage_since;
      ALTER TABLE request_event DROP COLUMN paused_until`);
}

const replaceAvailability = (since: string): string => `
      CREATE OR REPLACE VIEW model_availability AS
      SELECT model.id AS model_id,
             count(DISTINCT node.id) AS nodes,
             count(DISTINCT circuit.node_id) AS nodes_without,
             count(DISTINCT circuit.node_id) < count(DISTINCT node.id) AS is_available,
             ${since} AS since,
             string_agg(DISTINCT circuit.address, ', ') AS addresses,
             string_agg(DISTINCT circuit.reason, ' ') AS reasons
      FROM model
      LEFT JOIN node ON node.role <> 'api' AND node.draining_since IS NULL
      LEFT JOIN circuit ON circuit.model_id = model.id AND circuit.node_id = node.id AND circuit.yields_slots
      WHERE model.removed_at IS NULL
      GROUP BY model.id`;

/** A run that never reached its model is none that a key had of it. */
const replaceShares = (ofAttempt: string): string => `
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
        JOIN request ON request.id = lease.request_id
        UNION ALL
        SELECT request.model_id, request.api_key_id, attempt.started_at, attempt.ended_at, false
        FROM attempt
        JOIN request ON request.id = attempt.request_id
        WHERE attempt.request_id >= uuid_at(now() - interval '1 day')
          AND attempt.ended_at > now() - interval '1 hour'${ofAttempt}
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
      WINDOW of_model AS (PARTITION BY model_id)`;
