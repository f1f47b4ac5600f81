import { setImmediate as nextTurn } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Recent } from '../tools/recent.js';
import { ClusterGauges } from './cluster-gauges.js';
import { processRegistry, REGISTRY } from './registry.js';
import { StorageGauges } from './storage-gauges.js';

/** The text is built at most once in this time, however often it is requested. */
const maxAgeMs = 500;

/** All metrics in Prometheus format. */
@Injectable()
export class Exposition {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  private readonly text = new Recent(maxAgeMs, () => this.write());

  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    private readonly cluster: ClusterGauges,
    private readonly storage: StorageGauges,
  ) {}

  read(): Promise<string> {
    return this.text.get();
  }

  private async write(): Promise<string> {
    await Promise.all([this.cluster.refresh(), this.storage.refresh()]);
    const parts: string[] = [];
    for (const registry of [this.registry, processRegistry()])
      for (const { name } of registry.getMetricsAsArray()) {
        parts.push(await registry.getSingleMetricAsString(name));
        // With a hundred models, this takes 30 ms in total. Other calls are served in between.
        await nextTurn();
      }
    return `${parts.join('\n\n')}\n`;
  }
}
