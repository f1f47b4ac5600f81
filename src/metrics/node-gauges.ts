import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Registry } from 'prom-client';
import { Config } from '../config/config.js';
import { version } from '../config/package.js';
import { Clock } from '../database/clock.js';
import { Connections } from '../database/connections.js';
import { DatabaseWatch } from '../database/database-watch.js';
import { ModelsService } from '../models/models.service.js';
import { Circuits } from '../queue/circuits/circuits.js';
import { Slots } from '../queue/cluster/slots.js';
import { OutputSources } from '../queue/reads/output-sources.js';
import { StatusSources } from '../queue/reads/status-sources.js';
import { Duty } from '../tools/duty.js';
import { addCounter, addGauge } from './gauges.js';
import { modelValues } from './model-values.js';
import { REGISTRY } from './registry.js';

/** Gauges of this node: runs, slots, circuits, streams, connections, duties. */
@Injectable()
export class NodeGauges {
  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    private readonly models: ModelsService,
    private readonly slots: Slots,
    private readonly circuits: Circuits,
    private readonly sources: StatusSources,
    private readonly outputs: OutputSources,
    private readonly connections: Connections,
    private readonly discovery: DiscoveryService,
    private readonly watch: DatabaseWatch,
    private readonly clock: Clock,
    { role }: Config,
  ) {
    addGauge(
      registry,
      'build_info',
      'The version of this node, as a label; always 1.',
      ['version', 'role'],
      () => [[[version, role], 1]],
    );
    this.addRuns();
    this.addConnections();
    this.addDuties();
  }

  private addRuns(): void {
    const { slots, circuits } = this;
    const add = (
      name: string,
      help: string,
      value: (modelId: string) => number,
      ofRest?: 'sum' | 'max',
    ): void =>
      addGauge(this.registry, name, help, ['model'], () => modelValues(this.models.all(), value, ofRest));
    add('runs', 'Runs in progress on this node, and claims under way.', (id) => slots.inUse(id));
    add('slots', 'Runs that this node may have at once.', (id) => slots.limit(id));
    const isOpen = (id: string): number => (circuits.isAway(id) ? 1 : 0);
    add('circuit_open', '1: this node finds the model away, and sends it only probes.', isOpen, 'max');
    addGauge(
      this.registry,
      'streams',
      'Streams and long polls that follow requests on this node.',
      [],
      () => [[[], this.sources.watchers + this.outputs.moreReaders]],
    );
  }

  private addConnections(): void {
    const isUp = '1: the database answers this node; 0: it has not answered for some seconds.';
    addGauge(this.registry, 'database_up', isUp, [], () => [[[], this.watch.state.isUp ? 1 : 0]]);
    const ofSkew = "Seconds by which the clock of this node is ahead of the database's; negative: behind.";
    addGauge(this.registry, 'clock_skew_seconds', ofSkew, [], () => [[[], this.clock.skewMs / 1_000]]);
    const pools = () => Object.entries(this.connections.pools());
    const help = 'Connections of this node to PostgreSQL.';
    addGauge(this.registry, 'database_connections', help, ['pool', 'state'], () =>
      pools().flatMap(([pool, { idle, busy }]) => [
        [[pool, 'idle'], idle] as const,
        [[pool, 'busy'], busy] as const,
      ]),
    );
    const ofWaiters = 'Statements that wait for a connection.';
    addGauge(this.registry, 'database_connection_waiters', ofWaiters, ['pool'], () =>
      pools().map(([pool, { waiting }]) => [[pool], waiting] as const),
    );
  }

  private addDuties(): void {
    const duties = () =>
      this.discovery
        .getProviders()
        .flatMap(({ instance }: { instance: unknown }) => (instance instanceof Duty ? instance : []));
    // Seconds since 1970, by the database's clock.
    const timeOf = (at: number): number => (this.clock.now() - (performance.now() - at)) / 1_000;
    const help = 'When a duty of this node last ended a round without a failure.';
    addGauge(this.registry, 'duty_last_success_timestamp_seconds', help, ['duty'], () =>
      duties().flatMap(({ constructor: { name }, succeededAt }) =>
        succeededAt === undefined ? [] : [[[name], timeOf(succeededAt)] as const],
      ),
    );
    const isFailing = '1: the last round of a duty of this node failed.';
    addGauge(this.registry, 'duty_failing', isFailing, ['duty'], () =>
      duties().map((duty) => [[duty.constructor.name], duty.lastRoundFailed ? 1 : 0] as const),
    );
    const ofFailures = 'Rounds of a duty of this node that failed.';
    addCounter(this.registry, 'duty_failures_total', ofFailures, ['duty'], () =>
      duties().map(({ constructor: { name }, failures }) => [[name], failures] as const),
    );
  }
}
