import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { Load } from '../load/load.js';
import type { ModelServer } from '../model/model-server.js';
import type { Random } from '../random.js';
import type { Fleet } from '../workers/fleet.js';
import type { WorkerProcess } from '../workers/worker-process.js';

/** What a fault takes hold of: two faults never hold the same. */
type Hits = 'one node' | 'all nodes' | 'database' | 'models' | 'one worker';

/** One fault that was made. */
export interface FaultRecord {
  kind: string;
  hits: Hits;
  /** Names of the nodes, or the worker, it hit; empty: the database, and so all. */
  nodes: string[];
  from: number;
  /** When it was over: what was broken is whole again. Infinity while it lasts. */
  healedAt: number;
  /** How long after the heal what it hit may still answer with 5xx; null: only while a node is away. */
  graceMs: number | null;
  /** Requests that the nodes, or the worker, were running, and when it was hit. */
  affected: { requestId: string; at: number }[];
  /** Whether no node was left to take up runs before the heal. */
  total: boolean;
  /** When each node that was up accepted a submission again. */
  servedAt: number[];
}

export interface FaultContext {
  cluster: Cluster;
  fleet: Fleet;
  model: ModelServer;
  load: Load;
  random: Random;
  record: FaultRecord;
  /** Nodes that no other fault has in hand; never empty where nodes are hit. */
  targets: ServiceNode[];
  violate(rule: string, detail: string): void;
  count(what: string): void;
}

interface Kind<Context> {
  name: string;
  /** As in the record. */
  graceMs: number | null;
  /** Resolves when what it broke is whole again. */
  make(context: Context): Promise<void>;
}

/** Of workers: one that no other fault has in hand is given to it. */
export interface WorkerFaultKind extends Kind<FaultContext & { worker: WorkerProcess }> {
  hits: 'one worker';
}

export type FaultKind = (Kind<FaultContext> & { hits: Exclude<Hits, 'one worker'> }) | WorkerFaultKind;

/** Notes which nodes are hit, and what they are running. */
export function mark({ record, model }: FaultContext, nodes: readonly ServiceNode[], total = false): void {
  record.total = total;
  record.nodes.push(...nodes.map(({ name }) => name));
  const at = now();
  for (const { name } of nodes) {
    record.affected.push(...model.runs.active(name).map(({ requestId }) => ({ requestId, at })));
  }
}

/** The same of a worker. */
export function markWorker({ record, fleet, worker }: FaultContext & { worker: WorkerProcess }): void {
  record.nodes.push(worker.name);
  const at = now();
  fleet.log.refresh();
  record.affected.push(...fleet.log.active(worker.name).map(({ requestId }) => ({ requestId, at })));
}
