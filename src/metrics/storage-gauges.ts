import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DiskSpace, type Volume } from '../files/disk-space.js';
import { UnstoredResults } from '../queue/runs/unstored-results.js';
import { addGauge } from './gauges.js';
import { REGISTRY } from './registry.js';

/** Gauges of this node's disks, and of the data in memory that waits for them. */
@Injectable()
export class StorageGauges {
  private volumes: readonly Volume[] = [];

  constructor(
    @Inject(REGISTRY) registry: Registry,
    private readonly space: DiskSpace,
    unstored: UnstoredResults,
  ) {
    const add = (name: string, help: string, value: (volume: Volume) => number): void =>
      addGauge(registry, name, help, ['volume'], () =>
        this.volumes.map((volume) => [[volume.name], value(volume)]),
      );
    const of = 'of the disk of the files or, with it, of the embedded database';
    add('disk_free_bytes', `Free bytes ${of}.`, ({ freeBytes }) => freeBytes);
    add('disk_size_bytes', `Size ${of}.`, ({ sizeBytes }) => sizeBytes);
    add(
      'disk_reserved_bytes',
      `Bytes that files must leave free ${of}.`,
      ({ reservedBytes }) => reservedBytes,
    );
    const results = 'Results of runs that wait in memory because the disk or the database cannot store them.';
    addGauge(registry, 'held_results_bytes', results, [], () => [[[], unstored.bytes]]);
  }

  /** Called before the gauges are collected. Never rejects. */
  async refresh(): Promise<void> {
    this.volumes = await this.space.volumes().catch(() => []);
  }
}
