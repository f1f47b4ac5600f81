import type { Cluster } from '../cluster/cluster.js';
import type { ServiceNode } from '../cluster/service-node.js';
import { now } from '../clock.js';
import type { Load } from '../load/load.js';
import type { ModelServer } from '../model/model-server.js';
import type { Random } from '../random.js';
import type { Fleet } from '../workers/fleet.js';
import type { WorkerProcess } from '../workers/worker-process.js';

/** The part of the system that a fault occupies. Two faults never occupy the same part. */
type Hits = 'one node' | 'all nodes' | 'database' | 'models' | 'one worker';

/** One fault that happened. */
export interface FaultRecord {
  kind: string;
  hits: Hits;
  /** Names of the nodes, or of the worker, that it hit; empty: the database, and so all nodes. */
  nodes: string[];
  from: number;
  /** When it was over and everything broken was whole again. Infinity while it lasts. */
  healedAt: number;
  /** How long after the heal the nodes it hit may still answer with 5xx; null: only while a node is away. */
  graceMs: number | null;
  /** True if it ends streams, which then continue elsewhere, but fails no call. */
  endsStreams: boolean;
  /** Requests that the nodes, or the worker, were running, each with the time of the hit. */
  affected: { requestId: string; at: number }[];
  /** True if no node was left to take up runs before the heal. */
  total: boolean;
  /** Times at which nodes that were up accepted a submission again. */
  servedAt: number[];
}

export interface FaultContext {
  cluster: Cluster;
  fleet: Fleet;
  model: ModelServer;
  load: Load;
  random: Random;
  record: FaultRecord;
  /** Nodes that no other fault occupies; never empty where the kind hits nodes. */
  targets: ServiceNode[];
  violate(rule: string, detail: string): void;
  count(what: string, by?: number): void;
}

interface Kind<Context> {
  name: string;
  /** Copied into the record. */
  graceMs: number | null;
  endsStreams?: boolean;
  /** Resolves when everything that it broke is whole again. */
  make(context: Context): Promise<void>;
}

/** A fault of one worker, which no other fault occupies. */
export interface WorkerFaultKind extends Kind<FaultContext & { worker: WorkerProcess }> {
  hits: 'one worker';
}

export type FaultKind = (Kind<FaultContext> & { hits: Exclude<Hits, 'one worker'> }) | WorkerFaultKind;

/** Notes which nodes are hit, and which requests they are running. */
export function mark({ record, model }: FaultContext, nodes: readonly ServiceNode[], total = false): void {
  record.total = total;
  record.nodes.push(...nodes.map(({ name }) => name));
  const at = now();
  for (const { name } of nodes) {
    record.affected.push(...model.runs.active(name).map(({ requestId }) => ({ requestId, at })));
  }
}

/** Does the same for a worker. */
export function markWorker({ record, fleet, worker }: FaultContext & { worker: WorkerProcess }): void {
  record.nodes.push(worker.name);
  const at = now();
  fleet.log.refresh();
  record.affected.push(...fleet.log.active(worker.name).map(({ requestId }) => ({ requestId, at })));
}
