import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import type { Model } from '../../models/model.js';
import { Cluster } from '../cluster.js';
import { Lines } from '../lines.js';
import { NodeIdentity } from '../node-identity.js';
import type { Place } from '../place.js';
import { claim } from '../queries/claim.js';
import { findModelsWithWork } from '../queries/waiting.js';
import { QueueEvents } from '../queue-events.js';
import { Runs } from '../runs.js';
import { Slots } from '../slots.js';
import { Duty } from './duty.js';

/** Most requests in one claim. */
const claimLimit = 128;
/** A claim that takes longer to reach the database takes nothing there. */
const claimPatienceMs = 5_000;
/** A claim from the very front at least this often: a submission elsewhere may not have been heard of yet. */
const floorMs = 1_000;

/** What the scheduler knows of one model. */
interface Lane {
  model: Model;
  /** The claim that is under way. */
  claiming: Promise<void> | undefined;
  /** Something arrived while a claim was under way. */
  again: boolean;
  /** When the last claim without a floor was. */
  floorlessAt: number;
}

/**
 * Starts waiting requests the moment there is room. Capacity is kept in memory, so a model at its limit costs
 * no query; a poll, slower and slower while nothing happens, is the floor under lost wake-ups.
 */
@Injectable()
export class Scheduler extends Duty {
  protected readonly intervalMs = 1_000;
  private readonly lanes = new Map<string, Lane>();
  private readonly log = new Logger(Scheduler.name);
  private unsubscribe: (() => void) | undefined;
  private accepting = false;
  private idleRounds = 0;

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly node: NodeIdentity,
    private readonly events: QueueEvents,
    private readonly runs: Runs,
    private readonly lines: Lines,
    private readonly slots: Slots,
    private readonly cluster: Cluster,
    private readonly clock: Clock,
  ) {
    super();
  }

  override start(): void {
    if (this.accepting) return;
    this.accepting = true;
    for (const model of this.models.all()) {
      this.lanes.set(model.id, { model, claiming: undefined, again: false, floorlessAt: 0 });
    }
    this.unsubscribe = this.events.subscribe(({ work, cancelled, missed }) => {
      for (const id of work ?? []) this.wake(id);
      for (const id of cancelled ?? []) this.runs.abort(id, 'cancelled');
      if (missed === true) this.hasten(0);
    });
    super.start();
    this.hasten(0);
  }

  /** Claims nothing more; the runs go on. What a claim under way brings is a run as well: it is waited for. */
  override async stop(): Promise<void> {
    this.accepting = false;
    this.unsubscribe?.();
    await super.stop();
    for (const { claiming } of this.lanes.values()) await claiming;
  }

  async runOnce(): Promise<void> {
    const free = [...this.lanes.values()].filter(
      (lane) => lane.claiming === undefined && this.slots.free(lane.model.id) > 0,
    );
    if (free.length === 0) return;
    const found = await findModelsWithWork(
      this.database,
      free.map((lane) => lane.model.id),
    );
    this.idleRounds = found.length === 0 ? this.idleRounds + 1 : 0;
    for (const id of found) this.wake(id);
  }

  protected override nextIntervalMs(): number {
    return Math.min(30_000, this.intervalMs * 2 ** Math.min(this.idleRounds, 5));
  }

  private wake(modelId: string): void {
    const lane = this.lanes.get(modelId);
    if (lane === undefined || !this.accepting) return;
    if (lane.claiming !== undefined) lane.again = true;
    else lane.claiming = this.fill(lane);
  }

  /** Claims for one model until its slots are full or its line is empty. */
  private async fill(lane: Lane): Promise<void> {
    try {
      do {
        lane.again = false;
        while (this.accepting && (await this.claimInto(lane))) continue;
      } while (lane.again && this.accepting && this.slots.free(lane.model.id) > 0);
    } catch (error) {
      this.log.debug(`claim for ${lane.model.id} failed: ${(error as Error).message}`);
    } finally {
      lane.claiming = undefined;
    }
  }

  /** True when there may be more to claim and room for it. */
  private async claimInto(lane: Lane): Promise<boolean> {
    const { model } = lane;
    const limit = Math.min(claimLimit, this.slots.free(model.id));
    if (limit <= 0 || !this.cluster.connected) return false;
    const floor = this.floor(lane);
    const { generation } = this.slots;
    this.slots.take(model.id, limit);
    const claimed = await claim(this.database, {
      modelId: model.id,
      nodeId: this.node.id,
      limit,
      timeoutMs: model.timeoutMs,
      floor,
      byMs: this.clock.now() + claimPatienceMs,
    }).catch((error: unknown) => {
      this.slots.release(model.id, limit);
      this.runs.suspectOrphans();
      throw error;
    });
    this.slots.release(model.id, limit - claimed.length);
    this.events.publish({
      left: claimed.map(({ priority, seq, attempt }) => ({
        modelId: model.id,
        priority,
        seq,
        attempt: attempt - 1,
      })),
      changed: claimed.map(({ id }) => id),
    });
    if (this.slots.generation !== generation || !this.cluster.connected) {
      // The answer came too late: the slots may be another node's by now, and the leases too.
      for (const one of claimed) void this.runs.handBack(one).finally(() => this.slots.release(model.id));
      return false;
    }
    for (const one of claimed) {
      void this.runs.carry(one, model).then(
        () => this.release(lane),
        (error: Error) => {
          this.log.error(`run of ${one.id} broke: ${error.stack ?? error.message}`);
          this.release(lane);
        },
      );
    }
    return claimed.length === limit && this.slots.free(model.id) > 0;
  }

  /** Where the line begins, as far as this node knows; once a second it is not trusted. */
  private floor(lane: Lane): Place | null {
    const now = performance.now();
    if (now - lane.floorlessAt <= floorMs) return this.lines.head(lane.model.id) ?? null;
    lane.floorlessAt = now;
    return null;
  }

  private release(lane: Lane): void {
    this.slots.release(lane.model.id);
    this.wake(lane.model.id);
  }
}
