import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Models that are away: which node cannot reach which, and runs that never reached theirs. */
export class Circuits1790000000016 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- An open circuit: a node that sends a model nothing but probes.
      CREATE TABLE circuit (
        model_id text NOT NULL,
        node_id uuid NOT NULL,
        address text NOT NULL,
        reason text NOT NULL,
        since timestamptz NOT NULL,
        PRIMARY KEY (model_id, node_id),
        CONSTRAINT circuit_is_of_a_node FOREIGN KEY (node_id) REFERENCES node (id) ON DELETE CASCADE
      );

      ALTER TABLE attempt
        DROP CONSTRAINT attempt_outcome_is_known,
        ADD CONSTRAINT attempt_outcome_is_known
          CHECK (outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'returned', 'lost', 'unreached'));

      CREATE VIEW model_availability AS
      SELECT model.id AS model_id,
             count(node.id) AS nodes,
             count(circuit.node_id) AS nodes_without,
             count(circuit.node_id) < count(node.id) AS is_available,
             min(circuit.since) AS since,
             string_agg(DISTINCT circuit.address, ', ') AS addresses,
             string_agg(DISTINCT circuit.reason, ' ') AS reasons
      FROM model
      LEFT JOIN node ON node.role <> 'api'
      LEFT JOIN circuit ON circuit.model_id = model.id AND circuit.node_id = node.id
      GROUP BY model.id`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      DROP VIEW model_availability;
      UPDATE attempt SET outcome = 'returned' WHERE outcome = 'unreached';
      ALTER TABLE attempt
        DROP CONSTRAINT attempt_outcome_is_known,
        ADD CONSTRAINT attempt_outcome_is_known
          CHECK (outcome IN ('succeeded', 'failed', 'timed_out', 'cancelled', 'returned', 'lost'));
      DROP TABLE circuit`);
}
