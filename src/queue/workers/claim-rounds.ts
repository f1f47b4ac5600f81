import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { type ClaimFloor, entriesOf, inOrder, startedOf } from '../runs/queries/claim.js';
import { type ClaimedRun, claimForWorkers } from './queries/claim-for-workers.js';
import type { LeasedRun } from './queries/worker-leases.js';
import { Cluster } from '../cluster/cluster.js';
import { QueueEvents } from '../queue-events.js';
import { claimPatienceMs, ClaimPump } from '../runs/claim-pump.js';
import { GroupTurns, nextClaimMs } from '../runs/group-turns.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { type ClaimWaiter, slotsOf } from './claim-waiter.js';
import { WaitingClaims } from './waiting-claims.js';
import { LeasedRuns } from './leased-runs.js';
import { WorkerEnds } from './worker-ends.js';

/** At most this many slots per statement. */
const maxSlots = 100;
/** The longest wait for statements in progress, for a claim whose time is over. */
const patienceMs = 1_000;

/** Serves the claims that wait: for each model one statement at a time, for all claims that wait for it. */
@Injectable()
export class ClaimRounds {
  /** By model. */
  private readonly pumps = new Map<string, ClaimPump>();
  /** By model: the timer of its next check, while another model of its group goes first. */
  private readonly looks = new Map<string, NodeJS.Timeout>();
  private isStopped = false;

  constructor(
    private readonly waiting: WaitingClaims,
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly clock: Clock,
    private readonly runs: LeasedRuns,
    private readonly ends: WorkerEnds,
    private readonly cluster: Cluster,
    private readonly turns: GroupTurns,
  ) {
    events.subscribe(({ work }) => {
      for (const id of work ?? []) this.wake(id);
    });
    // A model may have been resumed, or may have more runs now.
    models.changes.subscribe(() => this.wakeAll());
  }

  wake(modelId: string): void {
    if (this.waiting.of(modelId) === undefined || this.isStopped) return;
    const pump: ClaimPump =
      this.pumps.get(modelId) ?? new ClaimPump(modelId, () => this.serve(modelId, pump));
    this.pumps.set(modelId, pump);
    void pump.run();
  }

  /** Wakes the models that have claimable requests, as far as this node knows. */
  wakeAll(): void {
    this.wakeThoseOf(this.waiting.models);
  }

  wakeThoseOf(models: readonly string[]): void {
    for (const id of models) if (this.index.claimable(id) > 0) this.wake(id);
  }

  /** Resolves once each woken model of the claim was checked, or after `patienceMs`: a busy model may never be done. */
  async settled(waiter: ClaimWaiter): Promise<void> {
    await Promise.race([this.allLooked(waiter), delay(patienceMs, undefined, { ref: false })]);
  }

  /** No further statement begins. Resolves once none is in progress. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const timer of this.looks.values()) clearTimeout(timer);
    await Promise.all([...this.pumps.values()].map(({ ended }) => ended));
  }

  private async allLooked(waiter: ClaimWaiter): Promise<void> {
    let rounds: Promise<void>[];
    do {
      const pumps = [...waiter.asked.models.keys()].map((id) => this.pumps.get(id));
      rounds = pumps.flatMap((pump) => (pump?.isRunning === true ? pump.ended : []));
      await Promise.all(rounds);
    } while (rounds.length > 0 && waiter.passedOver.size > 0 && !waiter.isSettled);
  }

  private async serve(modelId: string, pump: ClaimPump): Promise<void> {
    const model = this.models.get(modelId);
    const count = Math.min(maxSlots, Math.max(1, this.index.claimable(modelId)));
    const waiters = this.waiting.of(modelId) ?? new Set();
    const slots = slotsOf(waiters, modelId, count);
    for (const waiter of waiters) waiter.noteLook(modelId, slots.length > 0);
    const mayStart = model?.takenBy === 'workers' && model.paused === null && !this.cluster.isDrained;
    if (!mayStart || slots.length === 0 || this.isStopped) return;
    // A model that another node has claims for does not keep this one waiting.
    const room = this.turns.room(model, ({ id }) => this.waiting.of(id) !== undefined);
    if (room === 0) return this.lookAgain(modelId);
    const asked = slots.slice(0, room);
    const brought = await this.claimInto(model, asked, pump.floorAt(this.index.head(modelId)));
    this.turns.noteClaim(model, brought);
    this.wakePassedOver(slots);
    this.wakeOthersInGroup(model);
    if (this.index.claimable(modelId) === 0) return;
    // A claim takes either what may use all slots or what may use the reserved ones.
    if (brought === asked.length || (brought > 0 && hasReserve(model))) this.wake(modelId);
    else if (model.concurrency !== null) pump.noteFull();
  }

  private lookAgain(modelId: string): void {
    clearTimeout(this.looks.get(modelId));
    this.looks.set(modelId, setTimeout(() => this.wake(modelId), nextClaimMs).unref());
  }

  private wakeOthersInGroup({ id, group }: Model): void {
    if (group === null) return;
    for (const other of this.models.membersOf(group))
      if (other.id !== id && this.turns.hasWork(other)) this.wake(other.id);
  }

  /** While these claims were busy, others of their models had no claim to serve, and nothing else would wake them. */
  private wakePassedOver(waiters: readonly ClaimWaiter[]): void {
    for (const { isSettled, passedOver } of waiters)
      if (!isSettled) for (const id of passedOver) this.wake(id);
  }

  /** Returns how many runs came. Never rejects. */
  private async claimInto(
    model: Model,
    slots: readonly ClaimWaiter[],
    floor: ClaimFloor | null,
  ): Promise<number> {
    const waiters = new Set(slots);
    const tokens = slots.map(() => randomUUID());
    for (const waiter of waiters) waiter.isBusy = true;
    let claimed: ClaimedRun[];
    try {
      claimed = await claimForWorkers(this.database, {
        modelId: model.id,
        slots: slots.map(({ asked: { worker, claimId, hash } }, i) => ({
          workerId: worker.uid,
          claimId,
          claimHash: hash,
          token: tokens[i]!,
        })),
        floor,
        timeoutMs: model.timeoutMs,
        byMs: this.clock.now() + claimPatienceMs,
        isBounded: model.concurrency !== null,
        groupId: model.group?.id ?? null,
        isReserved: hasReserve(model),
      });
    } catch (error) {
      // The claim may have been committed; a worker that repeats its claim gets the runs.
      this.runs.noteUnknown(tokens.map((token) => ({ token, handed: 1 })));
      for (const waiter of waiters) waiter.fail(error);
      return 0;
    } finally {
      for (const waiter of waiters) waiter.isBusy = false;
    }
    for (const run of claimed) this.runs.remember(run);
    if (claimed.length > 0) {
      this.events.publish({ started: entriesOf(model.id, claimed), changed: claimed.map(({ id }) => id) });
      this.events.emit('request.started', () => claimed.map((run) => startedOf(model.id, run)));
    }
    const runs = new Map<ClaimWaiter, LeasedRun[]>();
    for (const run of claimed) {
      const waiter = slots[run.slot]!;
      runs.set(waiter, [...(runs.get(waiter) ?? []), run]);
    }
    for (const [waiter, own] of runs) {
      if (waiter.isSettled) void this.ends.giveBack(own);
      else waiter.settle(inOrder(own));
    }
    return claimed.length;
  }
}

const hasReserve = ({ reserve }: Model): boolean => reserve.high + reserve.normal > 0;
