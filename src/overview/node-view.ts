import { reasonOf, toCircuit } from './circuit-view.js';
import type { NodeState, OverviewNodeDto } from './dto/overview.dto.js';
import type { ModelPercentilesDto } from './dto/model-figures.dto.js';
import type { AdminNodeDto } from './dto/nodes.dto.js';
import type { ClusterSnapshot, NodeTimes } from './cluster-snapshots.js';
import { toTime } from '../tools/to-time.js';

type NodeRow = ClusterSnapshot['nodes'][number];

/** A node without a beat for this long has given up its runs. A second later other nodes take them. */
const fencedAfterMs = 5_000;
const lostAfterMs = 6_000;

function toNodeState({ heartbeatAtMs, drainingSinceMs, isStopping }: NodeRow, atMs: number): NodeState {
  const silentMs = atMs - heartbeatAtMs;
  if (silentMs > lostAfterMs) return 'lost';
  if (silentMs > fencedAfterMs) return 'fenced';
  if (isStopping) return 'stopping';
  return drainingSinceMs === null ? 'ready' : 'draining';
}

export function toOverviewNodes({ nodes, atMs }: ClusterSnapshot): OverviewNodeDto[] {
  return nodes.map((node) => ({
    id: node.id,
    name: node.name,
    role: node.role,
    state: toNodeState(node, atMs),
  }));
}

/** The nodes that run requests. */
export function schedulersOf({ nodes, atMs }: Pick<ClusterSnapshot, 'nodes' | 'atMs'>): NodeRow[] {
  return nodes.filter((node) => node.role !== 'api' && toNodeState(node, atMs) === 'ready');
}

export function toNodes(snapshot: ClusterSnapshot, times: readonly NodeTimes[]): AdminNodeDto[] {
  const there = snapshot.nodes.map((node) => {
    return toNode(
      node,
      snapshot,
      times.filter(({ nodeId }) => nodeId === node.id),
    );
  });
  return [...there, ...snapshot.lost.map(toLostNode)];
}

function toLostNode(node: ClusterSnapshot['lost'][number]): AdminNodeDto {
  const { id, name, role, version, startedAtMs, heartbeatAtMs, lostAtMs, runs } = node;
  return {
    id,
    name,
    role,
    version: version ?? 'unknown',
    state: 'lost',
    started_at: toTime(startedAtMs),
    heartbeat_at: toTime(heartbeatAtMs),
    lost_at: toTime(lostAtMs),
    lost_runs: runs,
    draining_since: null,
    running: 0,
    slots: 0,
    models: [],
  };
}

function toNode(
  node: NodeRow,
  { slots, runs, circuits, atMs }: ClusterSnapshot,
  times: readonly NodeTimes[],
): AdminNodeDto {
  const { id, name, role, version } = node;
  const [ownSlots, ownRuns, open] = [slots, runs, circuits].map((rows) =>
    (rows as readonly { nodeId: string }[]).filter(({ nodeId }) => nodeId === id),
  ) as [ClusterSnapshot['slots'], ClusterSnapshot['runs'], ClusterSnapshot['circuits']];
  const state = toNodeState(node, atMs);
  // Until a silent node is given up, no other node starts what it may still run.
  const restingUntil =
    atMs - node.heartbeatAtMs > fencedAfterMs ? toTime(node.heartbeatAtMs + lostAfterMs) : null;
  const models = new Set([...ownSlots, ...ownRuns, ...open].map(({ modelId }) => modelId));
  const of = <Row extends { modelId: string }>(rows: readonly Row[], modelId: string): Row | undefined =>
    rows.find((row) => row.modelId === modelId);
  return {
    id,
    name,
    role,
    state,
    version: version ?? 'unknown',
    started_at: toTime(node.startedAtMs),
    heartbeat_at: toTime(node.heartbeatAtMs),
    lost_at: null,
    lost_runs: null,
    draining_since: toTime(node.drainingSinceMs),
    running: ownRuns.reduce((sum, { count }) => sum + count, 0),
    slots: slotsIn(ownSlots),
    models: [...models].sort().map((modelId) => {
      const openOf = open.filter((row) => row.modelId === modelId);
      const circuit = toCircuit(openOf);
      return {
        model_id: modelId,
        slots: of(ownSlots, modelId)?.count ?? 0,
        running: of(ownRuns, modelId)?.count ?? 0,
        ...circuit,
        resting_until: restingUntil,
        reason: circuit.circuit === 'closed' ? null : reasonOf(openOf),
        recent_runs: of(times, modelId)?.runs ?? 0,
        recent_failed: of(times, modelId)?.failed ?? 0,
        run_time: toRunTime(of(times, modelId)?.runMs),
      };
    }),
  };
}

/** Models of one group share their slots. */
function slotsIn(rows: ClusterSnapshot['slots']): number {
  let slots = 0;
  const ofGroups = new Map<string, number>();
  for (const { count, groupId, groupSlots } of rows) {
    if (groupId === null) slots += count;
    else ofGroups.set(groupId, Math.min(groupSlots!, (ofGroups.get(groupId) ?? 0) + count));
  }
  for (const count of ofGroups.values()) slots += count;
  return slots;
}

const toRunTime = (ms: readonly [number, number] | null | undefined): ModelPercentilesDto | null =>
  ms ? { p50: Math.round(ms[0]) / 1_000, p95: Math.round(ms[1]) / 1_000 } : null;
