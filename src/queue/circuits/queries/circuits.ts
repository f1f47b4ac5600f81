import type { Database } from '../../../database/database.js';
import { columnsOf, statement } from '../../../database/statement.js';

/** An address of a model to which a node sends only probes. */
export interface OpenCircuit {
  modelId: string;
  address: string;
  reason: string;
  /** Milliseconds since 1970, by the database's clock. */
  sinceMs: number;
  /** True: the node sends nothing but probes to all addresses of the model. */
  isAway: boolean;
  /** True: in addition, other nodes may have the node's slots. */
  yieldsSlots: boolean;
  isProbing: boolean;
}

/*
 * Purpose: makes the rows of a node those of its open circuits. A circuit that opens while another node finds the
 *   model away belongs to the same outage, so that restarting one node after the other does not make it look new.
 * Race: a node writes only its own rows, one statement after the other. A node that was given up meanwhile writes
 *   none: its row is locked, or not found, and its circuits are deleted with it.
 * Index: circuit_pkey; a row exists only while an address is away.
 */
const writeStatement = statement('write_circuits')`WITH here AS MATERIALIZED (
  SELECT id FROM node WHERE id = $1::uuid FOR KEY SHARE
), closed AS (
  DELETE FROM circuit
  WHERE node_id = $1::uuid
    AND (model_id, address) NOT IN (SELECT * FROM unnest($2::text[], $3::text[]))
)
INSERT INTO circuit (model_id, node_id, address, reason, since, is_away, yields_slots, is_probing, outage_since)
SELECT open.model_id, here.id, open.address, open.reason, to_timestamp(open.since_ms / 1000),
       open.is_away, open.yields_slots, open.is_probing,
       least(to_timestamp(max(open.since_ms) OVER (PARTITION BY open.model_id) / 1000),
             (SELECT min(other.outage_since) FROM circuit AS other
              WHERE other.model_id = open.model_id AND other.node_id <> here.id AND other.is_away AND open.is_away))
FROM here, unnest($2::text[], $3::text[], $4::text[], $5::float8[], $6::boolean[], $7::boolean[], $8::boolean[])
  AS open (model_id, address, reason, since_ms, is_away, yields_slots, is_probing)
ON CONFLICT (model_id, node_id, address) DO UPDATE
SET reason = excluded.reason, since = excluded.since, is_away = excluded.is_away,
    yields_slots = excluded.yields_slots, is_probing = excluded.is_probing,
    outage_since = CASE WHEN circuit.is_away AND excluded.is_away THEN circuit.outage_since
                        ELSE excluded.outage_since END`;

/** A node that finds a model away and leaves it to other nodes. */
export interface NodeCircuit {
  modelId: string;
  nodeId: string;
}

/** Reads the circuits of all nodes. */
export const circuitsStatement = statement('read_circuits')`
SELECT DISTINCT model_id AS "modelId", node_id AS "nodeId" FROM circuit WHERE yields_slots`;

export async function writeCircuits(
  database: Database,
  nodeId: string,
  open: readonly OpenCircuit[],
): Promise<void> {
  await database.query(writeStatement, [
    nodeId,
    ...columnsOf(open, 'modelId', 'address', 'reason', 'sinceMs', 'isAway', 'yieldsSlots', 'isProbing'),
  ]);
}

export function readCircuits(database: Database): Promise<NodeCircuit[]> {
  return database.query(circuitsStatement);
}
