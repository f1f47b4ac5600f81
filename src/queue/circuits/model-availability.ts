import { Injectable } from '@nestjs/common';
import type { NodeCircuit } from '../queries/circuits.js';
import { Cluster } from '../cluster/cluster.js';

export type Availability = 'available' | 'unavailable';

/** Which models no node can reach, as far as this node knows; also where requests are not run. */
@Injectable()
export class ModelAvailability {
  private nodesWithout = new Map<string, Set<string>>();

  constructor(private readonly cluster: Cluster) {}

  /** Unavailable: each node that runs requests has found it away. */
  of(modelId: string): Availability {
    const without = this.nodesWithout.get(modelId);
    const isAway = without !== undefined && this.cluster.schedulers.every((id) => without.has(id));
    return isAway ? 'unavailable' : 'available';
  }

  set(openCircuits: readonly NodeCircuit[]): void {
    this.nodesWithout = new Map();
    for (const { modelId, nodeId } of openCircuits) {
      const nodes = this.nodesWithout.get(modelId) ?? new Set();
      this.nodesWithout.set(modelId, nodes.add(nodeId));
    }
  }
}
