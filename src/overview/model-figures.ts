import { Injectable } from '@nestjs/common';
import type { Model } from '../models/model.js';
import { ModelsService } from '../models/models.service.js';
import { ModelAvailability } from '../queue/circuits/model-availability.js';
import { ModelLoads, type TypicalTimes } from '../queue/reads/model-loads.js';
import { orderKeyOf } from '../queue/waiting/fair-queue.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { toTime } from '../tools/to-time.js';
import { Activity } from './activity.js';
import { type ClusterSnapshot, ClusterSnapshots, type RecentEnds } from './cluster-snapshots.js';
import { reasonOf, toCircuit } from './circuit-view.js';
import { schedulersOf } from './node-view.js';
import type {
  AdminModelGroupDto,
  KeyWaitingDto,
  ModelFiguresDto,
  ModelNodeDto,
  RecentRunsDto,
} from './dto/model-figures.dto.js';
import { QueueFronts } from './queue-fronts.js';
import { WaitingKeys, type WaitingKeysRead } from './waiting-keys.js';

/** The last readings of all models. */
export interface Looked {
  snapshot: ClusterSnapshot;
  times: ReadonlyMap<string, TypicalTimes>;
  ends: readonly RecentEnds[];
  keys: WaitingKeysRead;
}

/** The figures of models: what was read of the cluster, and what this process has in memory. */
@Injectable()
export class ModelFigures {
  constructor(
    private readonly snapshots: ClusterSnapshots,
    private readonly activity: Activity,
    private readonly fronts: QueueFronts,
    private readonly waitingKeys: WaitingKeys,
    private readonly index: WaitingIndex,
    private readonly availability: ModelAvailability,
    private readonly loads: ModelLoads,
    private readonly models: ModelsService,
  ) {}

  /** Reads what is not in memory. */
  async look(models: readonly Model[], options = { withFronts: false }): Promise<Looked> {
    const [snapshot, times, ends, keys] = await Promise.all([
      this.snapshots.get(),
      this.loads.typicalTimes(),
      this.snapshots.getEnds(),
      this.waitingKeys.read(models),
      this.activity.read(),
      options.withFronts ? this.fronts.read(models) : undefined,
    ]);
    return { snapshot, times, ends, keys };
  }

  /** `shown`: returns what the reader may see of a request's id. */
  of(
    model: Model,
    { snapshot, times, ends, keys }: Looked,
    shown?: (requestId: string) => string,
  ): ModelFiguresDto {
    const { id } = model;
    const delayed = snapshot.delayed.find(({ modelId }) => modelId === id);
    const retrying = delayed?.retrying ?? 0;
    const circuits = snapshot.circuits.filter(({ modelId, isAway: whole }) => modelId === id && whole);
    const isAway = this.availability.of(id) === 'unavailable';
    const history = this.activity.history(id);
    const sum = (field: 'completed' | 'failed'): number => history.reduce((all, one) => all + one[field], 0);
    const typical = times.get(id);
    return {
      description: model.description,
      waiting: Math.max(0, this.index.claimable(id) - retrying),
      delayed: retrying + (delayed?.scheduled ?? 0),
      held: this.index.heldOf(id),
      running: countOf(snapshot.runs, id),
      slots: model.takenBy === 'workers' ? model.concurrency : countOf(snapshot.slots, id),
      group: this.groupOf(model, snapshot),
      oldest_waiting_at: this.oldestAt(id, snapshot),
      started_today: this.activity.startedToday(id),
      started_per_second: this.activity.startedPerSecond(id),
      completed_last_hour: sum('completed'),
      failed_last_hour: sum('failed'),
      availability: isAway ? 'unavailable' : 'available',
      unavailable_since:
        isAway && circuits.length > 0
          ? toTime(Math.min(...circuits.map(({ outageSinceMs }) => outageSinceMs)))
          : null,
      unavailable_reason: isAway ? awayReasonOf(model, circuits, snapshot) : null,
      nodes: model.takenBy === 'workers' ? [] : nodesOf(id, snapshot),
      recent_runs: toRecentRuns(ends.find(({ modelId }) => modelId === id)),
      run_time: typical === undefined ? null : seconds(typical.runMs),
      queue_time: typical?.queueMs ? seconds(typical.queueMs) : null,
      waiting_by_key: this.keysOf(model, snapshot, keys),
      history: history.map(({ at, started, completed, failed }) => ({
        minute: toTime(at),
        started,
        completed,
        failed,
      })),
      ...(shown && this.queueOf(id, shown)),
    };
  }

  private groupOf({ group }: Model, { runs }: ClusterSnapshot): AdminModelGroupDto | null {
    if (group === null) return null;
    const { id, concurrency, stayMs } = group;
    const models = this.models.membersOf(group).map((member) => member.id);
    const running = models.reduce((sum, modelId) => sum + countOf(runs, modelId), 0);
    return { id, concurrency, running, stay_s: stayMs / 1_000, models };
  }

  private oldestAt(id: string, { oldest }: ClusterSnapshot): string | null {
    const sinceMs = oldest.find(({ modelId }) => modelId === id)?.sinceMs;
    return sinceMs === undefined || this.index.depth(id) === 0 ? null : toTime(sinceMs);
  }

  private queueOf(id: string, shown: (requestId: string) => string): Pick<ModelFiguresDto, 'queue'> {
    const front = this.fronts.marksOf(id);
    if (front === undefined) return {};
    const marks = front.marks.map(({ requestId, keyId, sinceMs }) => ({
      request_id: shown(requestId),
      key_id: keyId,
      since: toTime(sinceMs),
    }));
    return { queue: { per_mark: front.step, marks } };
  }

  private keysOf(model: Model, { runsByKey }: ClusterSnapshot, read: WaitingKeysRead): KeyWaitingDto[] {
    const running = runsByKey.filter(({ modelId }) => modelId === model.id);
    const waiting = this.waitingKeys.countsOf(model, read);
    const largest = this.waitingKeys.largestOf(waiting, read);
    const names = new Map([...running, ...largest].map(({ keyId, name }) => [keyId, name]));
    return [...names].map(([keyId, name]) => ({
      key_id: keyId,
      name: name ?? '',
      waiting: waiting.get(orderKeyOf(keyId)) ?? 0,
      running: running.find((key) => key.keyId === keyId)?.count ?? 0,
    }));
  }
}

function toRecentRuns(ends: RecentEnds | undefined): RecentRunsDto | null {
  if (ends === undefined) return null;
  const { runs, failed, refused, code, message, lastAtMs } = ends;
  return { runs, failed, refused, code, message, last_at: toTime(lastAtMs) };
}

function awayReasonOf(
  { takenBy }: Model,
  circuits: ClusterSnapshot['circuits'],
  snapshot: ClusterSnapshot,
): string | null {
  if (takenBy === 'workers') return 'No worker asks for it.';
  if (schedulersOf(snapshot).length === 0) return 'No node runs requests.';
  return circuits.length > 0 ? reasonOf(circuits) : null;
}

function nodesOf(id: string, { nodes, slots, runs, circuits }: ClusterSnapshot): ModelNodeDto[] {
  const count = (rows: ClusterSnapshot['runs'], nodeId: string): number =>
    rows.find((row) => row.modelId === id && row.nodeId === nodeId)?.count ?? 0;
  return nodes.flatMap(({ id: nodeId, name, role }) => {
    if (role === 'api') return [];
    const open = circuits.filter((circuit) => circuit.modelId === id && circuit.nodeId === nodeId);
    return {
      name,
      slots: count(slots, nodeId),
      running: count(runs, nodeId),
      ...toCircuit(open),
    };
  });
}

const countOf = (rows: readonly { modelId: string; count: number }[], id: string): number =>
  rows.reduce((sum, { modelId, count }) => (modelId === id ? sum + count : sum), 0);

const seconds = ([p50, p95]: readonly [number, number]): { p50: number; p95: number } => ({
  p50: Math.round(p50) / 1_000,
  p95: Math.round(p95) / 1_000,
});
