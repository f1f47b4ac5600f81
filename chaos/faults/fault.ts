import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { RunBook } from '../model/run-book.js';
import type { Random } from '../random.js';

/** One fault that was made. */
export interface FaultRecord {
  kind: string;
  /** Names of the nodes it hit; empty: the database, and so all. */
  nodes: string[];
  from: number;
  /** When it was over: what was broken is whole again. Infinity while it lasts. */
  healedAt: number;
  /** Requests that the nodes were running, and when their node was hit. */
  affected: { requestId: string; at: number }[];
  /** Whether nobody was left to take up runs before the heal. */
  total: boolean;
  /** When each node that was up accepted a submission again. */
  servedAt: number[];
}

export interface FaultContext {
  cluster: Cluster;
  book: RunBook;
  random: Random;
  record: FaultRecord;
  /** Nodes that no other fault has in hand; never empty. */
  targets: ServiceNode[];
}

export interface FaultKind {
  name: string;
  /** What it takes hold of: two faults never hold the same. */
  hits: 'one node' | 'all nodes' | 'database';
  /** Resolves when what it broke is whole again. */
  make(context: FaultContext): Promise<void>;
}

/** Notes which nodes are hit, and what they are running. */
export function mark({ record, book }: FaultContext, nodes: readonly ServiceNode[], total = false): void {
  record.total = total;
  record.nodes.push(...nodes.map(({ name }) => name));
  const at = now();
  for (const { name } of nodes) {
    record.affected.push(...book.going(name).map(({ requestId }) => ({ requestId, at })));
  }
}
