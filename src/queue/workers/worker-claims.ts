import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { DomainError } from '../../errors/domain-error.js';
import { Cluster } from '../cluster/cluster.js';
import type { LeasedRun } from './queries/worker-leases.js';
import { ClaimLookUps } from './claim-look-ups.js';
import { ClaimRounds } from './claim-rounds.js';
import { type ClaimAsked, ClaimWaiter } from './claim-waiter.js';
import { conflictOf, WaitingClaims } from './waiting-claims.js';
import { assertMayClaim } from './may-claim.js';
import { type KnownWorker, KnownWorkers } from './known-workers.js';

/** The answer of a call that may wait. */
export interface LongPoll<Answer> {
  answer: Promise<Answer>;
  drop: () => void;
  fail: (refusal: DomainError) => void;
}

/**
 * Claims by workers. They are registered before anything is looked up, and wait until runs come or their time is over.
 */
@Injectable()
export class WorkerClaims {
  private isStopped = false;
  private turn = 0;
  private readonly lookUps: ClaimLookUps;

  constructor(
    database: Database,
    private readonly cluster: Cluster,
    private readonly waiting: WaitingClaims,
    private readonly rounds: ClaimRounds,
    workers: KnownWorkers,
  ) {
    this.lookUps = new ClaimLookUps(database);
    workers.toldChanges.subscribe((worker) => this.tell(worker));
  }

  /** How many calls wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** Models that a claim waits for. */
  get modelsWaitedFor(): string[] {
    return this.waiting.models;
  }

  /**
   * `waitMs`: how long the call may wait. Its answer is empty if no run came. Call `drop` once the answer is no
   * longer read, `fail` once it may bring nothing any more.
   */
  claim(asked: ClaimAsked, waitMs: number): LongPoll<LeasedRun[]> {
    assertMayClaim(asked.worker);
    this.assertOpen();
    const waiter = new ClaimWaiter(asked, (settled) => this.waiting.remove(settled));
    this.waiting.add(waiter);
    const timer = setTimeout(() => void this.endWait(waiter), waitMs);
    const answer = waiter.answer.finally(() => clearTimeout(timer));
    // Models take turns, so that none of several is always the first.
    const ids = [...asked.models.keys()];
    const first = this.turn++ % ids.length;
    this.rounds.wakeThoseOf([...ids.slice(first), ...ids.slice(0, first)]);
    void this.lookUp(waiter, waitMs);
    return { answer, drop: () => waiter.settle([]), fail: (refusal) => waiter.fail(refusal) };
  }

  wake(modelId: string): void {
    this.rounds.wake(modelId);
  }

  /** Ends the claims on a drained node: another node may have runs for them. */
  wakeAll(): void {
    if (!this.cluster.isDrained) return this.rounds.wakeAll();
    for (const waiter of this.waiting.all) if (!waiter.isBusy) void this.dismiss(waiter);
  }

  /** Ends the claims of a worker that leaves. */
  dropOf(workerId: string): void {
    for (const waiter of this.waiting.ofWorker(workerId)) waiter.settle([]);
  }

  /** Answers all claims with no runs. Resolves once no statement is in progress. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const ended = this.rounds.stop();
    for (const waiter of this.waiting.all) if (!waiter.isBusy) waiter.settle([]);
    await ended;
    for (const waiter of this.waiting.all) waiter.settle([]);
  }

  private assertOpen(): void {
    const fault = this.cluster.isDrained
      ? 'This node is drained and starts no runs. Ask another node, or try again in a moment.'
      : this.isStopped
        ? 'The service is shutting down. Try again in a moment.'
        : this.cluster.connected
          ? undefined
          : 'The database cannot be reached. Try again in a moment.';
    if (fault !== undefined) throw new DomainError('unavailable', fault, { retryAfterSeconds: 2 });
  }

  private tell(worker: KnownWorker): void {
    if (worker.told === 'run') this.wakeAll();
    else for (const waiter of this.waiting.ofWorker(worker.uid)) void this.dismiss(waiter);
  }

  /** Ends a claim that gets nothing new here, before its time is over. */
  private async dismiss(waiter: ClaimWaiter): Promise<void> {
    // Runs that it got before are its own.
    await waiter.lookedUp;
    try {
      assertMayClaim(waiter.asked.worker);
      waiter.settle([]);
    } catch (refusal) {
      waiter.fail(refusal);
    }
  }

  /** A statement in progress may still bring it runs. */
  private async endWait(waiter: ClaimWaiter): Promise<void> {
    await this.rounds.settled(waiter);
    // The look-up answers a call that does not wait.
    if (waiter.lookedUp !== undefined) await waiter.lookedUp;
    waiter.settle([]);
  }

  /** Looks up whether the claim has runs already: then it is a repetition, and gets those. */
  private async lookUp(waiter: ClaimWaiter, waitMs: number): Promise<void> {
    let done!: () => void;
    waiter.lookedUp = new Promise((resolve) => (done = resolve));
    try {
      if (waitMs === 0) await this.rounds.settled(waiter);
      const { claimId, hash } = waiter.asked;
      const runs = await this.lookUps.find(claimId, waitMs, () => !waiter.isSettled);
      if (runs.length === 0) return;
      if (runs.every(({ claimHash }) => claimHash.equals(hash))) waiter.settle(runs);
      else waiter.fail(conflictOf());
    } catch (error) {
      waiter.fail(error);
    } finally {
      done();
    }
  }
}
