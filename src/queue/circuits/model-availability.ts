import { Injectable } from '@nestjs/common';
import type { NodeCircuit } from './queries/circuits.js';
import { Clock } from '../../database/clock.js';
import { ModelsService } from '../../models/models.service.js';
import type { NextProbe } from '../queue-events.js';
import { Cluster } from '../cluster/cluster.js';

export type Availability = 'available' | 'unavailable';

/**
 * The models that no node can reach, or no worker asks for, as far as this node knows. Nodes that run no requests
 * know them too.
 */
@Injectable()
export class ModelAvailability {
  private nodesWithout = new Map<string, Set<string>>();
  private withoutWorkers = new Set<string>();
  /** The times of the probes of each model, of any node. */
  private readonly probes = new Map<string, number[]>();

  constructor(
    private readonly cluster: Cluster,
    private readonly models: ModelsService,
    private readonly clock: Clock,
  ) {}

  /** `unavailable`: no node runs requests, every node that does has found the model away, or no worker asks for it. */
  of(modelId: string): Availability {
    if (this.withoutWorkers.has(modelId)) return 'unavailable';
    if (this.models.get(modelId)?.takenBy !== 'workers' && this.cluster.schedulers.length === 0)
      return 'unavailable';
    const without = this.nodesWithout.get(modelId);
    const isAway = without !== undefined && this.cluster.schedulers.every((id) => without.has(id));
    return isAway ? 'unavailable' : 'available';
  }

  /**
   * Returns the time of the next probe of the model, in milliseconds since 1970 by the database's clock; null: none is
   * known.
   */
  nextProbeAtMs(modelId: string): number | null {
    const now = this.clock.now();
    const times = (this.probes.get(modelId) ?? []).filter((atMs) => atMs > now);
    return times.length === 0 ? null : Math.min(...times);
  }

  noteProbes(probes: readonly NextProbe[]): void {
    const now = this.clock.now();
    for (const { modelId, atMs } of probes) {
      const later = (this.probes.get(modelId) ?? []).filter((other) => other > now);
      this.probes.set(modelId, [...later, atMs]);
    }
  }

  /** Sets those of the models run by workers that no worker asks for. */
  setWithoutWorkers(modelIds: readonly string[]): void {
    this.withoutWorkers = new Set(modelIds);
  }

  set(openCircuits: readonly NodeCircuit[]): void {
    this.nodesWithout = new Map();
    for (const { modelId, nodeId } of openCircuits) {
      const nodes = this.nodesWithout.get(modelId) ?? new Set();
      this.nodesWithout.set(modelId, nodes.add(nodeId));
    }
  }
}
