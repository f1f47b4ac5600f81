import type { LeasedRun } from '../queries/worker-leases.js';
import type { KnownWorker } from './worker-book.js';

/** What a worker asks for by one claim. */
export interface ClaimAsked {
  worker: KnownWorker;
  /** With the id of its key before it: keys choose theirs by themselves. */
  claimId: string;
  /** Of what is asked for: a repetition asks for the same. */
  hash: Buffer;
  /** Of each model so many at most. */
  models: ReadonlyMap<string, number>;
  /** In all. */
  max: number;
}

/** A claim that waits for runs, or is being served. */
export class ClaimWaiter {
  readonly answer: Promise<LeasedRun[]>;
  /** A statement under way may bring it something. */
  isBusy = false;
  isSettled = false;
  /** Models that had nobody to serve, for it was busy: they are to be looked at again once it is not. */
  readonly passedOver = new Set<string>();
  /** Once it is known whether the claim is a repetition. */
  lookedUp: Promise<void> | undefined;
  private resolve!: (runs: LeasedRun[]) => void;
  private reject!: (error: unknown) => void;

  constructor(
    readonly asked: ClaimAsked,
    private readonly onSettled: (waiter: ClaimWaiter) => void,
  ) {
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // It may fail before anybody waits for it.
    this.answer.catch(() => undefined);
  }

  get isReady(): boolean {
    const { told, restMs } = this.asked.worker;
    return !this.isBusy && !this.isSettled && told === 'run' && restMs === 0;
  }

  /** Of a model of which something may wait; `isServing`: others take what there is. */
  noteLook(modelId: string, isServing: boolean): void {
    if (!this.isBusy) this.passedOver.delete(modelId);
    else if (!isServing) this.passedOver.add(modelId);
  }

  /** Of a model; 0: not now. */
  roomFor(modelId: string): number {
    return this.isReady ? Math.min(this.asked.max, this.asked.models.get(modelId) ?? 0) : 0;
  }

  settle(runs: LeasedRun[]): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.resolve(runs);
    this.onSettled(this);
  }

  fail(error: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.reject(error);
    this.onSettled(this);
  }
}

/** So many slots of the waiters, one each in turns, those first that wait longest. */
export function slotsOf(waiters: Iterable<ClaimWaiter>, modelId: string, count: number): ClaimWaiter[] {
  const slots: ClaimWaiter[] = [];
  let open: { waiter: ClaimWaiter; room: number }[] = [];
  for (const waiter of waiters) {
    const room = waiter.roomFor(modelId);
    if (room === 0) continue;
    slots.push(waiter);
    if (slots.length === count) return slots;
    if (room > 1) open.push({ waiter, room: room - 1 });
  }
  while (open.length > 0) {
    for (const one of open) {
      slots.push(one.waiter);
      one.room--;
      if (slots.length === count) return slots;
    }
    open = open.filter(({ room }) => room > 0);
  }
  return slots;
}
