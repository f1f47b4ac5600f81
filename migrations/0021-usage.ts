import type { MigrationInterface, QueryRunner } from 'typeorm';

const columns = `request.id, request.model_id, api_key.name AS key_name,
             request.state, request.outcome, request.attempt AS attempts,
             request.error ->> 'code' AS error_code, request.error ->> 'message' AS error_message,
             request.created_at, request.started_at, request.completed_at,
             greatest(
               coalesce(request.started_at, request.completed_at, now()) - greatest(request.created_at, request.not_before),
               interval '0'
             ) AS queue_time,
             request.inference_ms * interval '1 millisecond' AS inference_time`;

/** What a run has used, as its model says: beside its lease, then with its attempt and its request. */
export class Usage1790000000121 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      SET LOCAL lock_timeout = '5s';
      ALTER TABLE lease ADD COLUMN usage json;
      ALTER TABLE attempt ADD COLUMN usage json;
      ALTER TABLE request ADD COLUMN usage json;

      CREATE OR REPLACE VIEW request_history AS
      SELECT ${columns}, request.usage
      FROM request
      LEFT JOIN api_key ON api_key.id = request.api_key_id;

      CREATE OR REPLACE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW recent_request;
      DROP VIEW request_history;
      CREATE VIEW request_history AS
      SELECT ${columns}
      FROM request
      LEFT JOIN api_key ON api_key.id = request.api_key_id;

      ALTER TABLE request DROP COLUMN usage;
      ALTER TABLE attempt DROP COLUMN usage;
      ALTER TABLE lease DROP COLUMN usage;

      CREATE VIEW recent_request AS SELECT * FROM request;
      SELECT bound_recent_request()`);
}
