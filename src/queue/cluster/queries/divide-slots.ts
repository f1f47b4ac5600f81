import { createHash } from 'node:crypto';
import type { Database } from '../../../database/database.js';
import { statement } from '../../../database/statement.js';
import { type Reserve, slotsBelow } from '../../../models/model.js';
import type { SlotsBelow } from '../slots.js';
import { circuitsStatement, type NodeCircuit } from '../../circuits/queries/circuits.js';

export interface SlotGrant {
  modelId: string;
  /** Never below `retained`. */
  slots: number;
  /** Runs start here only while fewer are in progress. */
  limit: number;
  round: number;
  /** The group of the model; null: it has none. */
  groupId: string | null;
  /** Runs of the group's models start here only while fewer are in progress. */
  groupLimit: number;
  /** The slots that runs of lower priorities may use; undefined: all. */
  below: SlotsBelow | undefined;
  /** False: there is more to take or to give once other nodes have moved. */
  isFair: boolean;
}

/*
 * Purpose: divides each model's concurrency among the nodes that run requests, so that the limit holds over all of
 *   them at every instant, and a claim needs no count. A node that found a model away leaves it to the others, and so
 *   does a drained node. Of a model that is not in its file, or has another group there, a node keeps only what runs.
 *   All slots of a group and its models go to one node, because the loaded model and the longest wait are known there.
 *   What other nodes hold of the group's models counts against the group. A model that workers ran until now counts
 *   their runs.
 * Race: a first statement locks the rows of `model` in one order, also those of models in the same groups; the second
 *   then sees every grant committed before. The grants never exceed the limit: a node gives up only slots that it does
 *   not use, and takes only free ones. After the limit was lowered, the runs in progress may exceed it. Until enough of
 *   them have ended, none starts anywhere, also where fewer run than the node's part.
 * Index: model_pkey, slot_grant_pkey, lease_of_workers.
 */
const lockModels = statement('lock_models')`
SELECT id, coalesce(concurrency_override, concurrency, 0) AS concurrency, slot_round AS round,
       reserve_high AS high, reserve_normal AS normal,
       group_id AS "groupId", group_concurrency AS "groupConcurrency", removed_at IS NOT NULL AS "isRemoved"
FROM model
WHERE id = ANY ($1::text[]) OR group_id IN (SELECT group_id FROM model WHERE id = ANY ($1::text[]))
ORDER BY id FOR UPDATE`;

const readGrants = statement('read_grants')`SELECT model_id AS "modelId",
       coalesce(sum(slots) FILTER (WHERE node_id IS DISTINCT FROM $2::uuid), 0)::integer AS others,
       coalesce(sum(coalesce(below_high, slots)) FILTER (WHERE node_id IS DISTINCT FROM $2::uuid), 0)::integer AS "belowHigh",
       coalesce(sum(coalesce(below_normal, slots)) FILTER (WHERE node_id IS DISTINCT FROM $2::uuid), 0)::integer AS "belowNormal"
FROM (
  SELECT model_id, node_id, slots, below_high, below_normal FROM slot_grant
  UNION ALL
  SELECT model_id, NULL, 1, NULL, NULL FROM lease WHERE worker_id IS NOT NULL
) AS part
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
INSERT INTO slot_grant (model_id, node_id, slots, below_high, below_normal)
SELECT model_id, $2::uuid, slots, below_high, below_normal
FROM unnest($1::text[], $3::integer[], $4::integer[], $5::integer[])
  AS share (model_id, slots, below_high, below_normal)
ON CONFLICT (model_id, node_id) DO UPDATE
SET slots = excluded.slots, below_high = excluded.below_high, below_normal = excluded.below_normal`;

interface RequestedSlots {
  modelId: string;
  /** Slots of the old grant that runs occupy now. */
  retained: number;
  /** The part of them that runs below high, and below normal, occupy. */
  retainedBelow?: [number, number];
  /** True: the node's file does not have the model any more. */
  isGone?: boolean;
  /** The model's group in the node's file. */
  groupId?: string | null;
}

interface ModelRow extends Reserve {
  id: string;
  concurrency: number;
  round: number;
  groupId: string | null;
  /** null: the model has no group. */
  groupConcurrency: number | null;
  /** True: the file of the node that wrote the row last does not have the model. */
  isRemoved: boolean;
}

/** The slots of a model that other nodes and workers have. */
interface OtherGrants {
  modelId: string;
  others: number;
  belowHigh: number;
  belowNormal: number;
}

/** What a node gets of one limit. */
interface SlotPart {
  /** Its own, those that its runs occupy included. */
  slots: number;
  /** Runs start only while fewer are in progress. */
  limit: number;
  isFair: boolean;
}

/** What a node got, and the nodes among which the slots were divided. */
export interface Division {
  grants: SlotGrant[];
  schedulers: string[];
}

/** undefined: this node is no longer registered. */
export async function divideSlots(
  database: Database,
  nodeId: string,
  requested: RequestedSlots[],
): Promise<Division | undefined> {
  const ids = requested.map(({ modelId }) => modelId);
  return database.transaction(async (query) => {
    const models = await query<ModelRow>(lockModels, [ids]);
    const nodes = await query<{ id: string; isDraining: boolean }>(readSchedulers);
    if (!nodes.some(({ id }) => id === nodeId)) return undefined;
    const schedulers = nodes.flatMap(({ id, isDraining }) => (isDraining ? [] : [id]));
    const circuits = await query<NodeCircuit>(circuitsStatement);
    const locked = models.map(({ id }) => id);
    const grants = await query<OtherGrants>(readGrants, [locked, nodeId]);
    const othersOf = new Map(grants.map((grant) => [grant.modelId, grant]));
    const modelOf = new Map(models.map((model) => [model.id, model]));
    const requestOf = new Map(requested.map((request) => [request.modelId, request]));
    const retainedOf = (id: string): number => requestOf.get(id)?.retained ?? 0;
    const membersOf = (group: string): ModelRow[] => models.filter(({ groupId }) => groupId === group);
    const nodesWithout = (those: readonly ModelRow[]): string[] =>
      circuits.flatMap((circuit) => (those.some(({ id }) => id === circuit.modelId) ? circuit.nodeId : []));
    const granted = requested.flatMap(
      ({ modelId, isGone = false, groupId: ownGroup = null }): SlotGrant[] => {
        const model = modelOf.get(modelId);
        if (model === undefined) return [];
        const { concurrency, round, groupId } = model;
        const members = groupId === null ? [model] : membersOf(groupId);
        const without = nodesWithout(members);
        const isHere = groupId !== null && nodeOfGroup(groupId, schedulers, without) === nodeId;
        const fairOf = (all: number): number => {
          if (isGone || ownGroup !== groupId) return 0;
          if (groupId !== null) return isHere ? all : 0;
          return fairShare(modelId, all, nodeId, schedulers, without);
        };
        const others = othersOf.get(modelId);
        const part = partOf(fairOf(concurrency), concurrency - (others?.others ?? 0), retainedOf(modelId));
        const [high, normal] = slotsBelow(concurrency, model);
        const retainedBelow = requestOf.get(modelId)!.retainedBelow ?? [part.slots, part.slots];
        const belowHigh = partOf(fairOf(high), high - (others?.belowHigh ?? 0), retainedBelow[0]);
        const belowNormal = partOf(fairOf(normal), normal - (others?.belowNormal ?? 0), retainedBelow[1]);
        const reserves = model.high + model.normal > 0;
        const below: SlotsBelow = {
          slots: [belowHigh.slots, belowNormal.slots],
          limits: [belowHigh.limit, belowNormal.limit],
        };
        const groupSlots = slotsOfGroup(members);
        const usedBy = (of: (id: string) => number): number =>
          members.reduce((sum, { id }) => sum + of(id), 0);
        const freeOfGroup = groupSlots - usedBy((id) => othersOf.get(id)?.others ?? 0);
        const ofGroup = partOf(isHere ? groupSlots : 0, freeOfGroup, usedBy(retainedOf));
        const isFair =
          part.isFair &&
          (!reserves || (belowHigh.isFair && belowNormal.isFair)) &&
          (groupId === null || ofGroup.isFair);
        return [
          {
            modelId,
            slots: part.slots,
            limit: part.limit,
            round,
            groupId,
            groupLimit: ofGroup.limit,
            below: reserves ? below : undefined,
            isFair,
          },
        ];
      },
    );
    await query(writeGrants, [
      granted.map(({ modelId }) => modelId),
      nodeId,
      granted.map(({ slots }) => slots),
      granted.map(({ below }) => below?.slots[0] ?? null),
      granted.map(({ below }) => below?.slots[1] ?? null),
    ]);
    return { grants: granted, schedulers };
  });
}

/** Removed models have the group as it was. If all are removed, a node with another file has removed them. */
function slotsOfGroup(members: readonly ModelRow[]): number {
  const current = members.filter(({ isRemoved }) => !isRemoved);
  const known = current.length > 0 ? current : members;
  return Math.max(...known.map(({ groupConcurrency }) => groupConcurrency ?? 0));
}

function partOf(fair: number, free: number, retained: number): SlotPart {
  const limit = Math.min(fair, Math.max(0, free));
  return { slots: Math.max(retained, limit), limit, isFair: limit === fair && retained <= fair };
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

/**
 * Returns the node that runs a group's models, of those that find the fewest of them away. A node that joins takes few
 * groups from others. `nodesWithout`: a node once for each model that it finds away. undefined: there is no node.
 */
export function nodeOfGroup(
  groupId: string,
  nodes: readonly string[],
  nodesWithout: readonly string[],
): string | undefined {
  const lacks = (node: string): number => nodesWithout.filter((id) => id === node).length;
  const fewest = Math.min(...nodes.map(lacks));
  const rank = (node: string): string => createHash('sha256').update(`${groupId} ${node}`).digest('hex');
  return nodes
    .filter((node) => lacks(node) === fewest)
    .sort((one, other) => (rank(one) < rank(other) ? -1 : 1))[0];
}

/** The remainder goes to different nodes for different models, so that single slots spread over the nodes. */
export function fairGrant(modelId: string, concurrency: number, rank: number, nodes: number): number {
  let hash = 0;
  for (const character of modelId) hash = (hash * 31 + character.codePointAt(0)!) >>> 0;
  const turn = (rank + hash) % nodes;
  return Math.floor(concurrency / nodes) + (turn < concurrency % nodes ? 1 : 0);
}
