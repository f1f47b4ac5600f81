import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { circuitsStatement, type NodeCircuit } from '../../circuits/queries/circuits.js';

export interface SlotGrant {
  modelId: string;
  /** Never below `retained`. */
  slots: number;
  /** This many slots are this node's to keep. */
  fair: number;
  round: number;
  /** False: there is more to take or to give once other nodes have moved. */
  isFair: boolean;
}

/*
 * Purpose: divides each model's concurrency among the nodes that run requests, so that the limit holds over all of
 *   them at every instant, and a claim needs no count. A node that found a model away leaves it to the others, and so
 *   does a drained node. Of a model that is not in its file, a node keeps only what runs.
 * Race: a first statement locks the rows of `model` in one order; the second then sees every grant committed before.
 *   The grants never exceed the limit: a node gives up only slots that it does not use, and takes only free ones.
 * Index: model_pkey, slot_grant_pkey.
 */
const lockModels = statement('lock_models')`
SELECT id, coalesce(concurrency_override, concurrency, 0) AS concurrency, slot_round AS round
FROM model
WHERE id = ANY ($1::text[])
ORDER BY id FOR UPDATE`;

const readGrants = statement('read_grants')`SELECT model_id AS "modelId",
       coalesce(sum(slots) FILTER (WHERE node_id <> $2::uuid), 0)::integer AS others
FROM slot_grant
WHERE model_id = ANY ($1::text[])
GROUP BY model_id`;

const readSchedulers = statement('read_schedulers')`
SELECT id, draining_since IS NOT NULL AS "isDraining" FROM node
WHERE role <> 'api'
ORDER BY id`;

const writeGrants = statement('write_grants')`WITH gone AS (
  DELETE FROM slot_grant
  WHERE node_id = $2::uuid AND model_id <> ALL ($1::text[])
)
INSERT INTO slot_grant (model_id, node_id, slots)
SELECT model_id, $2::uuid, slots
FROM unnest($1::text[], $3::integer[]) AS share (model_id, slots)
ON CONFLICT (model_id, node_id) DO UPDATE SET slots = excluded.slots`;

/** `retained`: slots of the old grant that runs occupy now. undefined: this node is no longer registered. */
export async function divideSlots(
  database: Database,
  nodeId: string,
  requested: { modelId: string; retained: number; isGone?: boolean }[],
): Promise<SlotGrant[] | undefined> {
  const ids = requested.map(({ modelId }) => modelId);
  return database.transaction(async (query) => {
    const models = await query<{ id: string; concurrency: number; round: number }>(lockModels, [ids]);
    const nodes = await query<{ id: string; isDraining: boolean }>(readSchedulers);
    if (!nodes.some(({ id }) => id === nodeId)) return undefined;
    const schedulers = nodes.flatMap(({ id, isDraining }) => (isDraining ? [] : [id]));
    const circuits = await query<NodeCircuit>(circuitsStatement);
    const grants = await query<{ modelId: string; others: number }>(readGrants, [ids, nodeId]);
    const others = new Map(grants.map((grant) => [grant.modelId, grant.others]));
    const retainedOf = new Map(requested.map((request) => [request.modelId, request]));
    const granted = models.map(({ id, concurrency, round }) => {
      const { retained, isGone = false } = retainedOf.get(id)!;
      const without = circuits.flatMap((circuit) => (circuit.modelId === id ? circuit.nodeId : []));
      const fair = isGone ? 0 : fairShare(id, concurrency, nodeId, schedulers, without);
      const free = Math.max(0, concurrency - (others.get(id) ?? 0));
      const slots = Math.max(retained, Math.min(fair, free));
      return { modelId: id, slots, fair, round, isFair: slots === fair };
    });
    const slots = granted.map((grant) => grant.slots);
    await query(writeGrants, [granted.map(({ modelId }) => modelId), nodeId, slots]);
    return granted;
  });
}

/**
 * Returns how many slots the node may keep. The nodes that reach the model share its slots. If none does, all nodes
 * share them, so that each may probe it.
 */
export function fairShare(
  modelId: string,
  concurrency: number,
  nodeId: string,
  nodes: readonly string[],
  nodesWithout: readonly string[],
): number {
  const able = nodes.filter((id) => !nodesWithout.includes(id));
  const sharing = able.length > 0 ? able : nodes;
  const rank = sharing.indexOf(nodeId);
  return rank < 0 ? 0 : fairGrant(modelId, concurrency, rank, sharing.length);
}

/** The remainder goes to different nodes for different models, so that single slots spread over the nodes. */
export function fairGrant(modelId: string, concurrency: number, rank: number, nodes: number): number {
  let hash = 0;
  for (const character of modelId) hash = (hash * 31 + character.codePointAt(0)!) >>> 0;
  const turn = (rank + hash) % nodes;
  return Math.floor(concurrency / nodes) + (turn < concurrency % nodes ? 1 : 0);
}
