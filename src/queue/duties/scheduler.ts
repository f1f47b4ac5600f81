import { Injectable, Logger } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import { Cluster } from '../cluster/cluster.js';
import { Lines } from '../waiting/waiting-index.js';
import { NodeIdentity } from '../cluster/node-identity.js';
import { claim, type Claimed } from '../queries/claim.js';
import type { Submission } from '../queries/submit.js';
import { submitStarted, type SubmittedStarted } from '../queries/submit-started.js';
import { findModelsWithWork } from '../queries/waiting.js';
import type { TollClaim } from '../submit/toll.js';
import { QueueEvents } from '../queue-events.js';
import { Runs } from '../runs/runs.js';
import { Slots } from '../cluster/slots.js';
import { Duty } from '../../tools/duty.js';
import { Lane } from './model-dispatcher.js';

/** A claim that takes longer to reach the database takes nothing there. */
const claimPatienceMs = 5_000;

interface ClaimedTogether {
  claimed: Claimed[];
  /** Of the slots that were taken for it. */
  generation: number;
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
  private readonly startsUnderWay = new Set<Promise<unknown>>();
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
    for (const model of this.models.all()) this.lanes.set(model.id, new Lane(model));
    this.unsubscribe = this.events.subscribe(({ work, cancelled, missed }) => {
      for (const id of work ?? []) this.wake(id);
      for (const id of cancelled ?? []) this.runs.abort(id, 'cancelled');
      if (missed === true) this.hasten(0);
    });
    super.start();
    this.hasten(0);
  }

  /** Starts nothing more; the runs go on. What a claim under way brings is a run as well: it is waited for. */
  override async stop(): Promise<void> {
    this.accepting = false;
    this.unsubscribe?.();
    await super.stop();
    for (const { claiming } of this.lanes.values()) await claiming;
    await Promise.allSettled(this.startsUnderWay);
  }

  /** Whether a request of the model would be started at once, as far as this node knows. */
  hasRoomNow(modelId: string): boolean {
    const lane = this.lanes.get(modelId);
    return (
      this.accepting &&
      lane?.claiming === undefined &&
      this.slots.free(modelId) > 0 &&
      this.lines.depth(modelId) === 0 &&
      this.cluster.connected
    );
  }

  /** Writes a request and starts it in the same commit, or does neither. Only if there is room now. */
  async submitAndStart(submission: Submission, toll?: TollClaim): Promise<SubmittedStarted> {
    const lane = this.lanes.get(submission.modelId)!;
    this.slots.take(lane.model.id, 1);
    const starting = this.startNow(lane, submission, toll);
    this.startsUnderWay.add(starting);
    return starting.finally(() => this.startsUnderWay.delete(starting));
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

  private pollSoon(): void {
    this.idleRounds = 0;
    this.hasten(this.intervalMs);
  }

  private wake(modelId: string): void {
    const lane = this.lanes.get(modelId);
    if (lane === undefined || !this.accepting) return;
    if (lane.claiming !== undefined) lane.again = true;
    else if (this.slots.free(modelId) > 0) {
      lane.claiming = this.fill(lane).catch((error: Error) => {
        this.log.error(`the claims of ${modelId} broke: ${error.stack ?? error.message}`);
      });
    }
  }

  private async startNow(lane: Lane, submission: Submission, toll?: TollClaim): Promise<SubmittedStarted> {
    const { model } = lane;
    const { generation } = this.slots;
    const submitted = await submitStarted(this.database, submission, {
      nodeId: this.node.id,
      timeoutMs: model.timeoutMs,
      floor: lane.trusted() ? lane.passed : null,
      byMs: this.clock.now() + claimPatienceMs,
      toll,
    }).catch((error: unknown) => {
      this.runs.suspectOrphans();
      this.release(lane);
      throw error;
    });
    if (submitted.started === undefined) {
      lane.distrust();
      this.release(lane);
    } else {
      const { id, priority, input } = submission;
      const first = { attempt: 1, failedAttempts: 0, lostAttempts: 0, input: input.toString() };
      this.carry(lane, { claimed: [{ id, priority, ...submitted.started, ...first }], generation });
    }
    return submitted;
  }

  /** Claims for one model until its slots are full or its line is empty. */
  private async fill(lane: Lane): Promise<void> {
    const { id } = lane.model;
    try {
      do {
        // Runs that share a commit end in the same turn: one claim fills all their slots.
        await nextTurn();
        lane.again = false;
        let claiming = this.claimInto(lane);
        while (claiming !== undefined) {
          const claimed = await claiming;
          claiming = lane.hasMore ? this.claimInto(lane) : undefined;
          // The database works on the next claim while this process starts what the last one brought.
          if (claiming !== undefined) await nextTurn();
          this.carry(lane, claimed);
        }
      } while (lane.again && this.accepting && this.slots.free(id) > 0);
    } finally {
      lane.claiming = undefined;
    }
    // The claim failed, or somebody else had them locked; no run may be under way whose end would look again.
    if (this.accepting && this.slots.free(id) > 0 && this.lines.depth(id) > 0) this.pollSoon();
  }

  /** Undefined when there is no room. Never rejects. */
  private claimInto(lane: Lane): Promise<ClaimedTogether> | undefined {
    const { model } = lane;
    const limit = Math.min(lane.most, this.slots.free(model.id));
    if (limit <= 0 || !this.accepting || !this.cluster.connected) return undefined;
    this.slots.take(model.id, limit);
    return this.claim(lane, limit);
  }

  private async claim(lane: Lane, limit: number): Promise<ClaimedTogether> {
    const { model } = lane;
    const { generation } = this.slots;
    const claimed = await claim(this.database, {
      modelId: model.id,
      nodeId: this.node.id,
      limit,
      timeoutMs: model.timeoutMs,
      floor: lane.trusted() ? (this.lines.head(model.id) ?? null) : null,
      byMs: this.clock.now() + claimPatienceMs,
    }).catch((error: unknown) => {
      this.runs.suspectOrphans();
      this.log.debug(`claim for ${model.id} failed: ${(error as Error).message}`);
      return undefined;
    });
    lane.noteClaim(limit, claimed?.length);
    if (claimed === undefined) {
      this.slots.release(model.id, limit);
      return { claimed: [], generation };
    }
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
    return { claimed, generation };
  }

  private carry(lane: Lane, { claimed, generation }: ClaimedTogether): void {
    const { model } = lane;
    // An answer that came too late: the slots may be another node's by now, and the leases too.
    const isLate = this.slots.generation !== generation || !this.cluster.connected;
    if (!isLate) lane.passed = claimed.at(-1) ?? lane.passed;
    const release = (): void => this.release(lane);
    for (const one of claimed) {
      const carried = isLate ? this.runs.decline(one, model) : this.runs.carry(one, model);
      void carried.then(release, (error: Error) => {
        this.log.error(`run of ${one.id} broke: ${error.stack ?? error.message}`);
        release();
      });
    }
  }

  private release(lane: Lane): void {
    const { id } = lane.model;
    this.slots.release(id);
    if (lane.hasMore || lane.isDue || this.lines.depth(id) > 0) this.wake(id);
  }
}
