import { Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Clock } from '../../database/clock.js';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import type { Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { Cluster } from '../cluster/cluster.js';
import { type ClaimedRun, claimForWorkers } from '../queries/claim-for-workers.js';
import type { LeasedRun } from '../queries/worker-leases.js';
import { QueueEvents } from '../queue-events.js';
import { publishClaimed } from './publish-claimed.js';
import { ModelDispatcher } from '../runs/model-dispatcher.js';
import { WaitingIndex } from '../waiting/waiting-index.js';
import { ClaimLookUps } from './claim-look-ups.js';
import { type ClaimAsked, ClaimWaiter, slotsOf } from './claim-waiter.js';
import { HeldClaims } from './held-claims.js';
import { LeasedRuns } from './leased-runs.js';
import { WorkerEnds } from './worker-ends.js';

/** As the dispatcher's claims. */
const claimPatienceMs = 5_000;
/** In one statement. */
const maxSlots = 100;
/** Of a model whose bound is reached; what ends meanwhile is noticed so late at most. */
const fullMs = 50;
/** For what is under way for a claim whose time is over. */
const patienceMs = 1_000;

/** Claims by workers: armed before anything is looked at, and served by one statement a model for all that wait. */
@Injectable()
export class WorkerClaims {
  private readonly held = new HeldClaims();
  private readonly claiming = new Map<string, { again: boolean; ended: Promise<void> }>();
  private readonly floors = new Map<string, ModelDispatcher>();
  private readonly fullUntil = new Map<string, number>();
  private isStopped = false;
  private turn = 0;
  private readonly lookUps: ClaimLookUps;
  private readonly log = new Logger(WorkerClaims.name);

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly cluster: Cluster,
    private readonly clock: Clock,
    private readonly runs: LeasedRuns,
    private readonly ends: WorkerEnds,
  ) {
    this.lookUps = new ClaimLookUps(database);
    events.subscribe(({ work }) => {
      for (const id of work ?? []) this.wake(id);
    });
    // A model that was resumed, or may have more runs.
    models.changes.subscribe(() => this.wakeAll());
  }

  /** Calls that wait. */
  get size(): number {
    return this.held.size;
  }

  /** Models that somebody waits for. */
  get modelsWaitedFor(): string[] {
    return this.held.models;
  }

  /** `waitMs`: how long the call may be held. Its answer is empty when nothing came; `drop` once nobody reads it. */
  claim(asked: ClaimAsked, waitMs: number): { answer: Promise<LeasedRun[]>; drop: () => void } {
    this.assertOpen();
    const waiter = new ClaimWaiter(asked, (settled) => this.held.remove(settled));
    this.held.add(waiter);
    const timer = setTimeout(() => void this.endWait(waiter), waitMs);
    const answer = waiter.answer.finally(() => clearTimeout(timer));
    // In turns, so that no model of several is always the first.
    const ids = [...asked.models.keys()];
    const first = this.turn++ % ids.length;
    for (const id of [...ids.slice(first), ...ids.slice(0, first)])
      if (this.index.claimable(id) > 0) this.wake(id);
    void this.lookUp(waiter, waitMs);
    return { answer, drop: () => waiter.settle([]) };
  }

  wake(modelId: string): void {
    if (this.held.of(modelId) === undefined || this.isStopped) return;
    const known = this.claiming.get(modelId);
    if (known !== undefined) {
      known.again = true;
      return;
    }
    const round = { again: true, ended: Promise.resolve() };
    this.claiming.set(modelId, round);
    round.ended = this.serve(modelId, round).catch((error: Error) => {
      this.log.error(`claims of ${modelId} broke: ${error.stack ?? error.message}`);
    });
  }

  /** Claims of a worker that leaves. */
  dropOf(workerId: string): void {
    for (const waiter of this.held.all) if (waiter.asked.worker.uid === workerId) waiter.settle([]);
  }

  /** Those of which something waits, as far as this node knows. */
  wakeAll(): void {
    for (const id of this.held.models) if (this.index.claimable(id) > 0) this.wake(id);
  }

  /** All are answered that nothing came; resolves once no statement is under way. */
  async stop(): Promise<void> {
    this.isStopped = true;
    for (const waiter of this.held.all) if (!waiter.isBusy) waiter.settle([]);
    await Promise.all([...this.claiming.values()].map(({ ended }) => ended));
    for (const waiter of this.held.all) waiter.settle([]);
  }

  private assertOpen(): void {
    const fault = this.cluster.isDraining
      ? 'This node is drained: it starts nothing. Ask another, or again in a moment.'
      : this.isStopped
        ? 'The service is shutting down. Try again in a moment.'
        : this.cluster.connected
          ? undefined
          : 'The database cannot be reached. Try again in a moment.';
    if (fault !== undefined) throw new DomainError('unavailable', fault, { retryAfterSeconds: 2 });
  }

  /** What is under way for it may still bring something. */
  private async endWait(waiter: ClaimWaiter): Promise<void> {
    await this.settled(waiter);
    // A call that does not wait is answered by its look-up.
    if (waiter.lookedUp !== undefined) await waiter.lookedUp;
    waiter.settle([]);
  }

  private async settled(waiter: ClaimWaiter): Promise<void> {
    const rounds = [...waiter.asked.models.keys()].flatMap((id) => this.claiming.get(id)?.ended ?? []);
    // Of a busy model they go on and on.
    const patience = delay(patienceMs, undefined, { ref: false });
    await Promise.race([Promise.all(rounds), patience]);
  }

  /** Whether its claim has runs already: then it is a repetition, and gets those. */
  private async lookUp(waiter: ClaimWaiter, waitMs: number): Promise<void> {
    let done!: () => void;
    waiter.lookedUp = new Promise((resolve) => (done = resolve));
    try {
      if (waitMs === 0) await this.settled(waiter);
      const { claimId, hash } = waiter.asked;
      const runs = await this.lookUps.find(claimId, waitMs, () => !waiter.isSettled);
      if (runs.length === 0) return;
      if (runs.every(({ claimHash }) => claimHash.equals(hash))) waiter.settle(runs);
      else waiter.fail(new DomainError('claim_conflict', conflict));
    } catch (error) {
      waiter.fail(error);
    } finally {
      done();
    }
  }

  private async serve(modelId: string, round: { again: boolean }): Promise<void> {
    try {
      await this.serveAll(modelId, round);
    } finally {
      // In the turn of the last look, or a wake-up could fall between.
      this.claiming.delete(modelId);
    }
  }

  private async serveAll(modelId: string, round: { again: boolean }): Promise<void> {
    while (round.again && !this.isStopped) {
      // Submissions that share a commit come in one turn: one statement serves all.
      await nextTurn();
      await this.waitWhileFull(modelId);
      round.again = false;
      const model = this.models.get(modelId);
      const count = Math.min(maxSlots, Math.max(1, this.index.claimable(modelId)));
      const slots = slotsOf(this.held.of(modelId) ?? [], modelId, count);
      if (model === undefined || !model.runner.isPulled || model.paused !== null || slots.length === 0)
        return;
      const brought = await this.claimInto(model, slots);
      round.again ||= brought === slots.length && this.index.claimable(modelId) > 0;
      if (brought < slots.length && model.concurrency !== null && this.index.claimable(modelId) > 0)
        this.fullUntil.set(modelId, performance.now() + fullMs);
    }
  }

  private async waitWhileFull(modelId: string): Promise<void> {
    const until = this.fullUntil.get(modelId);
    if (until === undefined) return;
    this.fullUntil.delete(modelId);
    await delay(Math.max(0, until - performance.now()), undefined, { ref: false });
  }

  /** How many runs came. Never rejects. */
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
      // It may have been committed; who repeats its claim gets what it brought.
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

  /** As the dispatcher's claims: over dead index entries, and once a second from the very front. */
  private floorOf(model: Model) {
    const known = this.floors.get(model.id) ?? new ModelDispatcher(model);
    this.floors.set(model.id, known);
    return (known.isFloorFresh() ? this.index.head(model.id) : undefined) ?? null;
  }
}

const inOrder = (runs: LeasedRun[]): LeasedRun[] =>
  runs.sort((a, b) => a.priority - b.priority || a.start - b.start || a.seq - b.seq);

const conflict =
  'This claim_id came with another worker, other models or another max before, and has runs. Use a new claim_id.';
