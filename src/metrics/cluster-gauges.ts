import { Inject, Injectable } from '@nestjs/common';
import { Registry } from 'prom-client';
import { DatabaseWatch } from '../database/database-watch.js';
import { type Group, slotsBelow } from '../models/model.js';
import { ModelsService } from '../models/models.service.js';
import { ModelAvailability } from '../queue/circuits/model-availability.js';
import { highest } from '../queue/cluster/slots.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { schedulersOf } from '../overview/node-view.js';
import { type ClusterSnapshot, ClusterSnapshots, type Upkeep } from '../overview/cluster-snapshots.js';
import { within } from '../tools/within.js';
import { type DelaysOfDeliveries, DeliveryDelays } from '../webhooks/delivery-delays.js';
import { addCounter, addGauge } from './gauges.js';
import { modelValues, type ModelValue } from './model-values.js';
import { REGISTRY } from './registry.js';

/** A scrape has its own timeout, usually 10 s. A database that hangs must not use it up. */
const patienceMs = 2_000;
const roles = ['all', 'api', 'scheduler'];
const openStatuses = ['validating', 'in_progress', 'finalizing', 'cancelling'];

/**
 * Gauges of the whole cluster, from one snapshot that is read at a scrape. Every node exports the same values, so
 * queries should use `max`. A node that cannot read the snapshot exports only the time of its last one. The figures of
 * upkeep and the delays of deliveries are read separately, because they take longest: if they cannot be read, only they
 * are missing.
 */
@Injectable()
export class ClusterGauges {
  private snapshot: ClusterSnapshot | undefined;
  private upkeep: Upkeep | undefined;
  private delays: DelaysOfDeliveries | undefined;
  private readAtMs = 0;
  private readMs = 0;
  private failures = 0;

  constructor(
    @Inject(REGISTRY) private readonly registry: Registry,
    private readonly snapshots: ClusterSnapshots,
    private readonly deliveries: DeliveryDelays,
    private readonly models: ModelsService,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly watch: DatabaseWatch,
  ) {
    this.addQueues();
    this.addRuns();
    this.addUpkeep();
    this.addDelays();
    this.addReading();
  }

  /** Called before the gauges are collected. Never rejects. */
  async refresh(): Promise<void> {
    const startedAt = performance.now();
    [this.snapshot, this.upkeep, this.delays] = await Promise.all([
      this.read(() => this.snapshots.get()),
      this.read(() => this.snapshots.getUpkeep()),
      this.read(() => this.deliveries.get()),
    ]);
    if (this.snapshot === undefined || this.upkeep === undefined || this.delays === undefined)
      this.failures++;
    if (this.snapshot === undefined) return;
    this.readAtMs = this.snapshot.atMs;
    this.readMs = performance.now() - startedAt;
  }

  /** undefined: it cannot be read, or not in time. */
  private async read<Value>(from: () => Promise<Value>): Promise<Value | undefined> {
    if (!this.watch.state.isUp) return undefined;
    return within(patienceMs, from(), undefined).catch(() => undefined);
  }

  private addQueues(): void {
    const { index } = this;
    const retrying = ({ delayed }: ClusterSnapshot, id: string): number => of(delayed, id)?.retrying ?? 0;
    this.ofModels('requests_waiting', 'Requests that start as soon as there is a slot.', (id, snapshot) =>
      Math.max(0, index.claimable(id) - retrying(snapshot, id)),
    );
    this.ofModels(
      'requests_held',
      'Requests that wait because their keys have reached their limit of running requests.',
      (id) => index.heldOf(id),
    );
    this.ofModels(
      'requests_delayed',
      'Requests that wait for their next attempt, or for the start time that their caller chose.',
      (id, snapshot) => retrying(snapshot, id) + (of(snapshot.delayed, id)?.scheduled ?? 0),
    );
    this.ofModels(
      'oldest_wait_seconds',
      'The longest time that a request has waited; 0: none waits.',
      (id, { oldest, atMs }) => {
        const sinceMs = of(oldest, id)?.sinceMs;
        return sinceMs === undefined || index.depth(id) === 0 ? 0 : Math.max(0, atMs - sinceMs) / 1_000;
      },
      'max',
    );
  }

  private addRuns(): void {
    this.ofModels('requests_running', 'Runs in progress.', (id, { runs }) => sumOf(runs, id));
    this.ofModels('slots', 'Runs that all nodes together may have at once.', (id, { slots }) =>
      this.models.get(id)!.takenBy === 'workers' ? null : sumOf(slots, id),
    );
    this.ofModels(
      'concurrency',
      'Runs that the model may have at once.',
      (id) => this.models.get(id)!.concurrency,
    );
    this.addGroups();
    this.ofModels(
      'circuits_open',
      'Nodes that find the model away.',
      (id, { circuits }) =>
        new Set(rowsOf(circuits, id).flatMap(({ nodeId, isAway }) => (isAway ? nodeId : []))).size,
    );
    // Where nothing waits, a missing worker does not matter.
    const isMissed = (id: string): boolean =>
      this.models.get(id)!.takenBy === 'nodes' || this.index.depth(id) > 0;
    const unavailable = '1: no node can reach the model, or no worker claims its waiting requests.';
    const isUnavailable = (id: string): number =>
      this.availability.of(id) === 'unavailable' && isMissed(id) ? 1 : 0;
    this.ofModels('model_unavailable', unavailable, isUnavailable, 'max');
    const isPaused = (id: string): number => (this.models.get(id)!.paused === null ? 0 : 1);
    this.ofModels('model_paused', '1: an operator has paused the model.', isPaused, 'max');
    this.add('nodes_draining', 'Nodes that an operator has drained.', [], ({ nodes }) => [
      [[], nodes.filter(({ drainingSinceMs, isStopping }) => drainingSinceMs !== null && !isStopping).length],
    ]);
    this.add('nodes_stopping', 'Nodes whose process is ending.', [], ({ nodes }) => [
      [[], nodes.filter(({ isStopping }) => isStopping).length],
    ]);
    const running =
      'Nodes that run requests: they send heartbeats, do not drain and do not have the role api.';
    this.add('schedulers', running, [], (snapshot) => [[[], schedulersOf(snapshot).length]]);
    this.add('batches', 'Batches that have not ended, by status.', ['status'], ({ batches }) =>
      openStatuses.map((status) => [[status], batches.find((one) => one.status === status)?.count ?? 0]),
    );
    this.add('nodes', 'Nodes by role.', ['role'], ({ nodes }) =>
      roles.map((role) => [[role], nodes.filter((node) => node.role === role).length]),
    );
  }

  private addGroups(): void {
    const running = ({ runs }: ClusterSnapshot, group: Group): number =>
      this.models.membersOf(group).reduce((sum, { id }) => sum + sumOf(runs, id), 0);
    this.add('group_running', 'Runs in progress of the models of a group.', ['group'], (snapshot) =>
      this.models.groups().map((group) => [[group.id], running(snapshot, group)]),
    );
    this.add('group_concurrency', 'Runs that the models of a group may have at once.', ['group'], () =>
      this.models.groups().map((group) => [[group.id], group.concurrency]),
    );
    this.ofModels(
      'slots_withheld',
      '1: the slots that its waiting requests could use are in use by its group, or reserved for other priorities.',
      (id, snapshot) => {
        const { group, reserve, concurrency } = this.models.get(id)!;
        if (group !== null && running(snapshot, group) >= group.concurrency) return 1;
        const all = concurrency ?? Infinity;
        const priority = this.index.next(id)?.priority ?? highest;
        const runs = rowsOf(snapshot.runsByKey, id);
        // The slots below high priority, then those below normal: a request of low priority needs one of both.
        const isWithheld = slotsBelow(all, reserve).some((slots, level) => {
          if (slots === all || priority <= highest + level) return false;
          return runs.reduce((sum, { below }) => sum + below[level]!, 0) >= slots;
        });
        return isWithheld ? 1 : 0;
      },
      'max',
    );
  }

  private addUpkeep(): void {
    const add = (name: string, help: string, value: (upkeep: Upkeep) => number): void =>
      this.add(name, help, [], () => (this.upkeep === undefined ? [] : [[[], value(this.upkeep)]]));
    add(
      'partitions_ahead',
      'Days after today that already have partitions.',
      ({ partitionDaysAhead }) => partitionDaysAhead,
    );
    add(
      'oldest_transaction_seconds',
      'Age of the oldest transaction in the database that the role of the service may see.',
      ({ oldestTransactionSeconds }) => oldestTransactionSeconds,
    );
    add(
      'webhook_deliveries_pending',
      'Deliveries to be tried; at most 100,000 are counted.',
      ({ pendingDeliveries }) => pendingDeliveries,
    );
  }

  private addDelays(): void {
    const add = (name: string, help: string, value: (delays: DelaysOfDeliveries) => number): void =>
      this.add(name, help, [], () => (this.delays === undefined ? [] : [[[], value(this.delays)]]));
    add(
      'webhook_overdue_seconds',
      'The time since the first pending delivery was due.',
      ({ overdueDeliverySeconds }) => overdueDeliverySeconds,
    );
    add(
      'webhook_failing_seconds',
      'The longest time for which a failing receiver has accepted no delivery; 0: none fails.',
      ({ failingReceiverSeconds }) => failingReceiverSeconds,
    );
  }

  private addReading(): void {
    const at = 'Time of the last snapshot that this node could read, by the clock of the database.';
    addGauge(this.registry, 'cluster_snapshot_timestamp_seconds', at, [], () => [
      [[], this.readAtMs / 1_000],
    ]);
    const took = 'Time that this node took to read the snapshot.';
    addGauge(this.registry, 'cluster_snapshot_duration_seconds', took, [], () => [[[], this.readMs / 1_000]]);
    const failed = 'Snapshots that this node could not read.';
    addCounter(this.registry, 'cluster_snapshot_failures_total', failed, [], () => [[[], this.failures]]);
  }

  private ofModels(
    name: string,
    help: string,
    value: (modelId: string, snapshot: ClusterSnapshot) => number | null,
    ofRest: 'sum' | 'max' = 'sum',
  ): void {
    this.add(name, help, ['model'], (snapshot) =>
      modelValues(this.models.all(), (id) => value(id, snapshot), ofRest),
    );
  }

  private add(
    name: string,
    help: string,
    labelNames: readonly string[],
    values: (snapshot: ClusterSnapshot) => ModelValue[],
  ): void {
    addGauge(this.registry, `cluster_${name}`, help, labelNames, () =>
      this.snapshot === undefined ? [] : values(this.snapshot),
    );
  }
}

type OfModel = { modelId: string };

/** Rows of each model, by snapshot list. They are grouped once, because each gauge reads all models. */
const byModel = new WeakMap<readonly OfModel[], Map<string, OfModel[]>>();

function rowsOf<Row extends OfModel>(rows: readonly Row[], id: string): readonly Row[] {
  let groups = byModel.get(rows);
  if (groups === undefined) {
    byModel.set(rows, (groups = new Map<string, OfModel[]>()));
    for (const row of rows) {
      const group = groups.get(row.modelId);
      if (group === undefined) groups.set(row.modelId, [row]);
      else group.push(row);
    }
  }
  return (groups.get(id) ?? []) as Row[];
}

const of = <Row extends OfModel>(rows: readonly Row[], id: string): Row | undefined => rowsOf(rows, id)[0];

const sumOf = (rows: readonly (OfModel & { count: number })[], id: string): number =>
  rowsOf(rows, id).reduce((sum, { count }) => sum + count, 0);
