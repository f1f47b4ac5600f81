import { Injectable } from '@nestjs/common';
import { DomainError } from '../../errors/domain-error.js';
import { AtATime } from '../../tools/at-a-time.js';
import type { LeaseName } from './queries/worker-leases.js';
import type { Told } from './queries/workers.js';
import { QueueEvents } from '../queue-events.js';
import { LeasedRuns } from './leased-runs.js';
import type { LongPoll } from './worker-claims.js';
import { type KnownWorker, KnownWorkers } from './known-workers.js';

export interface BeatAnswer {
  told: Told;
  /** Ids of requests whose runs are to stop. */
  cancel: string[];
  /** Ids of requests whose leases the worker no longer has. */
  lost: string[];
}

/** At most this many beats of one worker wait on one node. */
const maxOfWorker = 16;

/** Beats with more leases are renewed one at a time, so that those of one key do not delay those of others. */
const manyLeases = 100;

/** Changes within this time share one answer. */
const gatherMs = 5;

/** A beat that waits until there is something to report. */
class WaitingBeat {
  readonly answer: Promise<BeatAnswer>;
  readonly cancel = new Set<string>();
  readonly lost = new Set<string>();
  isAnswered = false;
  /** True: its leases are renewed, and `cancel` and `lost` are complete. */
  isRead = false;
  timer: NodeJS.Timeout | undefined;
  resolve!: (answer: BeatAnswer) => void;
  reject!: (error: unknown) => void;

  constructor(
    readonly worker: KnownWorker,
    /** By the id of the request. */
    readonly leases: ReadonlyMap<string, LeaseName>,
  ) {
    this.answer = new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
    this.answer.catch(() => undefined);
  }
}

/** The beats of workers. They renew leases, and wait until there is something that the worker must know at once. */
@Injectable()
export class WorkerBeats {
  private readonly waiting = new Set<WaitingBeat>();
  private readonly byRequest = new Map<string, Set<WaitingBeat>>();
  private readonly turns = new AtATime(1);
  private isStopped = false;

  constructor(
    events: QueueEvents,
    workers: KnownWorkers,
    private readonly runs: LeasedRuns,
  ) {
    events.subscribe(({ toStop, lost }) => {
      for (const id of toStop ?? []) for (const beat of this.of(id)) this.note(beat, 'cancel', id);
      for (const id of lost ?? []) for (const beat of this.of(id)) void this.noteLoss(beat, id);
    });
    workers.toldChanges.subscribe((worker) => {
      for (const beat of this.waiting) if (beat.worker === worker) this.answerSoon(beat);
    });
  }

  /** How many beats wait, with their leases renewed. */
  get size(): number {
    return [...this.waiting].filter((beat) => beat.isRead).length;
  }

  /** `waitMs`: how long it may wait. Call `drop` if the answer is not read any more, `fail` to refuse the call. */
  beat(worker: KnownWorker, leases: readonly LeaseName[], waitMs: number): LongPoll<BeatAnswer> {
    const beat = new WaitingBeat(worker, new Map(leases.map((lease) => [lease.id, lease])));
    if (worker.waitingBeats >= maxOfWorker) throw tooMany();
    // It is registered first, so that no change between the renewal and the wait is lost.
    this.hold(beat);
    this.forgetEnded(beat);
    void this.renew(beat, leases, this.isStopped ? 0 : waitMs);
    const fail = (refusal: unknown): void => {
      if (this.release(beat)) beat.reject(refusal);
    };
    return { answer: beat.answer, drop: () => void this.release(beat), fail };
  }

  /** Answers all beats with what is known. */
  stop(): void {
    this.isStopped = true;
    for (const beat of this.waiting) if (beat.isRead) this.finish(beat);
  }

  private async renew(beat: WaitingBeat, leases: readonly LeaseName[], waitMs: number): Promise<void> {
    try {
      if (leases.length > manyLeases)
        await this.turns.run(beat.worker.keyId, () => this.renewAll(beat, leases));
      else await this.renewAll(beat, leases);
    } catch (error) {
      if (this.release(beat)) beat.reject(error);
      return;
    }
    if (beat.isAnswered) return;
    beat.isRead = true;
    if (waitMs === 0 || this.isStopped || this.hasNews(beat)) return this.finish(beat);
    beat.timer = setTimeout(() => this.finish(beat), waitMs);
  }

  private async renewAll(beat: WaitingBeat, leases: readonly LeaseName[]): Promise<void> {
    // The worker may have disconnected while others had their turns.
    if (beat.isAnswered) return;
    const renewed = await Promise.all(leases.map((lease) => this.runs.renew(lease)));
    renewed.forEach((one, i) => {
      if (one === undefined) beat.lost.add(leases[i]!.id);
      else if (one.cancel) beat.cancel.add(leases[i]!.id);
    });
  }

  private hasNews({ worker, cancel, lost }: WaitingBeat): boolean {
    if (lost.size > 0 || worker.told !== worker.answered) return true;
    return [...cancel].some((id) => !worker.reportedCancels.has(id));
  }

  private note(beat: WaitingBeat, what: 'cancel' | 'lost', id: string): void {
    beat[what].add(id);
    this.answerSoon(beat);
  }

  /** The lost lease may be that of an earlier attempt, and the beat's that of a later one: the token decides. */
  private async noteLoss(beat: WaitingBeat, id: string): Promise<void> {
    const renewed = await this.runs.renew(beat.leases.get(id)!).catch((): object => ({}));
    if (renewed === undefined) this.note(beat, 'lost', id);
  }

  private answerSoon(beat: WaitingBeat): void {
    if (!beat.isRead || beat.isAnswered) return;
    clearTimeout(beat.timer);
    beat.timer = setTimeout(() => this.finish(beat), gatherMs);
  }

  private finish(beat: WaitingBeat): void {
    if (!this.release(beat)) return;
    const { worker, cancel, lost } = beat;
    const { told } = worker;
    worker.answered = told;
    for (const id of cancel) worker.reportedCancels.add(id);
    beat.resolve({ told, cancel: [...cancel].filter((id) => !lost.has(id)), lost: [...lost] });
  }

  private hold(beat: WaitingBeat): void {
    this.waiting.add(beat);
    beat.worker.waitingBeats++;
    for (const id of beat.leases.keys())
      this.byRequest.set(id, (this.byRequest.get(id) ?? new Set()).add(beat));
  }

  /** Returns false if it was answered before. */
  private release(beat: WaitingBeat): boolean {
    if (beat.isAnswered) return false;
    beat.isAnswered = true;
    clearTimeout(beat.timer);
    this.waiting.delete(beat);
    beat.worker.waitingBeats--;
    for (const id of beat.leases.keys()) {
      const beats = this.byRequest.get(id);
      beats?.delete(beat);
      if (beats?.size === 0) this.byRequest.delete(id);
    }
    return true;
  }

  private of(id: string): Iterable<WaitingBeat> {
    return this.byRequest.get(id) ?? [];
  }

  /** Forgets reported cancels of runs that the worker no longer has. */
  private forgetEnded({ worker: { reportedCancels }, leases }: WaitingBeat): void {
    for (const id of reportedCancels) if (!leases.has(id)) reportedCancels.delete(id);
  }
}

function tooMany(): DomainError {
  const detail = `A worker may have at most ${maxOfWorker} open beats. It needs only one.`;
  return new DomainError('caller_busy', detail, { retryAfterSeconds: 1 });
}
