import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { ModelServer } from '../model/model-server.js';
import type { RunLog } from '../model/run-log.js';
import type { Random } from '../random.js';

/** One fault that was made. */
export interface FaultRecord {
  kind: string;
  /** Names of the nodes it hit; empty: the database, and so all. */
  nodes: string[];
  from: number;
  /** When it was over: what was broken is whole again. Infinity while it lasts. */
  healedAt: number;
  /** How long after the heal what it hit may still answer with 5xx; null: only while a node is away. */
  graceMs: number | null;
  /** Requests that the nodes were running, and when their node was hit. */
  affected: { requestId: string; at: number }[];
  /** Whether no node was left to take up runs before the heal. */
  total: boolean;
  /** When each node that was up accepted a submission again. */
  servedAt: number[];
}

export interface FaultContext {
  cluster: Cluster;
  model: ModelServer;
  runs: RunLog;
  random: Random;
  record: FaultRecord;
  /** Nodes that no other fault has in hand; never empty. */
  targets: ServiceNode[];
  violate(rule: string, detail: string): void;
}

export interface FaultKind {
  name: string;
  /** What it takes hold of: two faults never hold the same. */
  hits: 'one node' | 'all nodes' | 'database' | 'models';
  /** As in the record. */
  graceMs: number | null;
  /** Resolves when what it broke is whole again. */
  make(context: FaultContext): Promise<void>;
}

/** Notes which nodes are hit, and what they are running. */
export function mark({ record, runs }: FaultContext, nodes: readonly ServiceNode[], total = false): void {
  record.total = total;
  record.nodes.push(...nodes.map(({ name }) => name));
  const at = now();
  for (const { name } of nodes) {
    record.affected.push(...runs.active(name).map(({ requestId }) => ({ requestId, at })));
  }
}
