import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { Coalesced } from '../../tools/coalesced.js';
import { type ClaimedRun, claimForWorkers } from '../queries/claim-for-workers.js';
import type { LeasedRun } from '../queries/worker-leases.js';
import { Cluster } from '../cluster/cluster.js';
import { QueueEvents } from '../queue-events.js';
import { ModelDispatcher } from '../runs/model-dispatcher.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { type ClaimWaiter, slotsOf } from './claim-waiter.js';
import { HeldClaims } from './held-claims.js';
import { LeasedRuns } from './leased-runs.js';
import { publishClaimed } from './publish-claimed.js';
import { WorkerEnds } from './worker-ends.js';

/** The same as for the dispatcher's claims. */
const claimPatienceMs = 5_000;
/** At most this many slots per statement. */
const maxSlots = 100;
/** A model at its bound is claimed again after this time, so the end of a run is noticed at most this late. */
const fullMs = 50;
/** The longest wait for statements in progress, for a claim whose time is over. */
const patienceMs = 1_000;

/** Serves the claims that wait: for each model one statement at a time, for all claims that wait for it. */
@Injectable()
export class ClaimRounds {
  /** Rounds in progress, by model. */
  private readonly rounds = new Map<string, Coalesced>();
  private readonly floors = new Map<string, ModelDispatcher>();
  private readonly fullUntil = new Map<string, number>();
  private isStopped = false;
  private readonly log = new Logger(ClaimRounds.name);

  constructor(
    private readonly held: HeldClaims,
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly clock: Clock,
    private readonly runs: LeasedRuns,
    private readonly ends: WorkerEnds,
    private readonly cluster: Cluster,
  ) {
    events.subscribe(({ work }) => {
      for (const id of work ?? []) this.wake(id);
    });
    // A model may have been resumed, or may have more runs now.
    models.changes.subscribe(() => this.wakeAll());
  }

  wake(modelId: string): void {
    if (this.held.of(modelId) === undefined || this.isStopped) return;
    let rounds = this.rounds.get(modelId);
    if (rounds === undefined) {
      const work = (): Promise<void> =>
        this.serve(modelId).catch((error: Error) => {
          this.log.error(`claims of ${modelId} broke: ${error.stack ?? error.message}`);
        });
      const gather = async (): Promise<void> => {
        // Submissions that share a commit come in one turn of the event loop: one statement serves all.
        await nextTurn();
        await this.waitWhileFull(modelId);
      };
      rounds = new Coalesced(work, { gather, onEnd: () => this.rounds.delete(modelId) });
      this.rounds.set(modelId, rounds);
    }
    void rounds.run();
  }

  /** Wakes the models that have claimable requests, as far as this node knows. */
  wakeAll(): void {
    this.wakeThoseOf(this.held.models);
  }

  wakeThoseOf(models: readonly string[]): void {
    for (const id of models) if (this.index.claimable(id) > 0) this.wake(id);
  }

  /**
   * Resolves once each woken model of the claim was looked at, or after `patienceMs`: a busy model may never be done.
   */
  async settled(waiter: ClaimWaiter): Promise<void> {
    await Promise.race([this.allLooked(waiter), delay(patienceMs, undefined, { ref: false })]);
  }

  /** No further statement begins. Resolves once none is in progress. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await Promise.all([...this.rounds.values()].map(({ ended }) => ended));
  }

  private async allLooked(waiter: ClaimWaiter): Promise<void> {
    let rounds: Promise<void>[];
    do {
      rounds = [...waiter.asked.models.keys()].flatMap((id) => this.rounds.get(id)?.ended ?? []);
      await Promise.all(rounds);
    } while (rounds.length > 0 && waiter.passedOver.size > 0 && !waiter.isSettled);
  }

  private async serve(modelId: string): Promise<void> {
    const model = this.models.get(modelId);
    const count = Math.min(maxSlots, Math.max(1, this.index.claimable(modelId)));
    const waiters = this.held.of(modelId) ?? new Set();
    const slots = slotsOf(waiters, modelId, count);
    for (const waiter of waiters) waiter.noteLook(modelId, slots.length > 0);
    const mayStart = model?.runner.isPulled === true && model.paused === null && !this.cluster.isDraining;
    if (!mayStart || slots.length === 0 || this.isStopped) return;
    const brought = await this.claimInto(model, slots);
    this.wakePassedOver(slots);
    if (this.index.claimable(modelId) === 0) return;
    if (brought === slots.length) this.wake(modelId);
    else if (model.concurrency !== null) this.fullUntil.set(modelId, performance.now() + fullMs);
  }

  private async waitWhileFull(modelId: string): Promise<void> {
    const until = this.fullUntil.get(modelId);
    if (until === undefined) return;
    this.fullUntil.delete(modelId);
    await delay(Math.max(0, until - performance.now()), undefined, { ref: false });
  }

  /** While these claims were busy, others of their models had no claim to serve, and nothing else would wake them. */
  private wakePassedOver(waiters: readonly ClaimWaiter[]): void {
    for (const { isSettled, passedOver } of waiters)
      if (!isSettled) for (const id of passedOver) this.wake(id);
  }

  /** Returns how many runs came. Never rejects. */
  private async claimInto(model: Model, slots: readonly ClaimWaiter[]): Promise<number> {
    const waiters = new Set(slots);
    const tokens = slots.map(() => randomUUID());
    for (const waiter of waiters) waiter.isBusy = true;
    let claimed: ClaimedRun[];
    try {
      claimed = await claimForWorkers(this.database, {
        modelId: model.id,
        slots: slots.map(({ asked: { worker, claimId, hash } }, i) => ({
          ...{ workerId: worker.uid, claimId, claimHash: hash, token: tokens[i]! },
        })),
        floor: this.floorOf(model),
        timeoutMs: model.timeoutMs,
        byMs: this.clock.now() + claimPatienceMs,
        isBounded: model.concurrency !== null,
      });
    } catch (error) {
      // The claim may have been committed; a worker that repeats its claim gets the runs.
      this.runs.noteUnknown(tokens);
      for (const waiter of waiters) waiter.fail(error);
      return 0;
    } finally {
      for (const waiter of waiters) waiter.isBusy = false;
    }
    for (const run of claimed) this.runs.remember(run);
    publishClaimed(this.events, model.id, claimed);
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

  /** As for the dispatcher's claims: skips dead index entries, and once a second begins at the very front. */
  private floorOf(model: Model) {
    const known = this.floors.get(model.id) ?? new ModelDispatcher(model);
    this.floors.set(model.id, known);
    return (known.isFloorFresh() ? this.index.head(model.id) : undefined) ?? null;
  }
}

const inOrder = (runs: LeasedRun[]): LeasedRun[] =>
  runs.sort((a, b) => a.priority - b.priority || a.start - b.start || a.seq - b.seq);
