import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A model may have several addresses, each with a circuit of its own. */
export class Addresses1790000000034 implements MigrationInterface {
  up = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      -- A row is now an address of a model that a node sends nothing but probes.
      CREATE UNIQUE INDEX circuit_by_address ON circuit (model_id, node_id, address);
      ALTER TABLE circuit
        ADD COLUMN is_away boolean NOT NULL DEFAULT true,
        ADD COLUMN yields_slots boolean NOT NULL DEFAULT true,
        ADD COLUMN is_probing boolean NOT NULL DEFAULT false,
        DROP CONSTRAINT circuit_pkey,
        ADD CONSTRAINT circuit_pkey PRIMARY KEY USING INDEX circuit_by_address,
        ADD CONSTRAINT circuit_yields_slots_of_a_model_that_is_away CHECK (is_away OR NOT yields_slots);

      ${replaceView('DISTINCT ', ' AND circuit.yields_slots')}`);

  down = (db: QueryRunner): Promise<unknown> =>
    db.query(`
      ${replaceView()};
      DELETE FROM circuit;
      ALTER TABLE circuit
        DROP CONSTRAINT circuit_pkey,
        ADD PRIMARY KEY (model_id, node_id),
        DROP COLUMN is_away,
        DROP COLUMN yields_slots,
        DROP COLUMN is_probing`);
}

const replaceView = (distinct = '', ofCircuit = ''): string => `
      CREATE OR REPLACE VIEW model_availability AS
      SELECT model.id AS model_id,
             count(${distinct}node.id) AS nodes,
             count(${distinct}circuit.node_id) AS nodes_without,
             count(${distinct}circuit.node_id) < count(${distinct}node.id) AS is_available,
             min(circuit.since) AS since,
             string_agg(DISTINCT circuit.address, ', ') AS addresses,
             string_agg(DISTINCT circuit.reason, ' ') AS reasons
      FROM model
      LEFT JOIN node ON node.role <> 'api' AND node.draining_since IS NULL
      LEFT JOIN circuit ON circuit.model_id = model.id AND circuit.node_id = node.id${ofCircuit}
      WHERE model.removed_at IS NULL
      GROUP BY model.id`;
