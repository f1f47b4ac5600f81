import type { LeasedRun } from './queries/worker-leases.js';
import type { KnownWorker } from './known-workers.js';

/** The runs that a worker asks for in one claim. */
export interface ClaimAsked {
  worker: KnownWorker;
  /** Prefixed with the id of its key, because keys choose their claim ids independently. */
  claimId: string;
  /** Hash of what is asked for: a repetition asks for the same. */
  hash: Buffer;
  /** At most this many runs of each model. */
  models: ReadonlyMap<string, number>;
  /** At most this many runs in all. */
  max: number;
}

/** A claim that waits for runs, or is being served. */
export class ClaimWaiter {
  readonly answer: Promise<LeasedRun[]>;
  /** True: a statement in progress may bring it runs. */
  isBusy = false;
  isSettled = false;
  /** Models that had no claim to serve because this one was busy. They must be checked again once it is not. */
  readonly passedOver = new Set<string>();
  /** Resolves once it is known whether the claim is a repetition. */
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
    // It may fail before anything awaits it.
    this.answer.catch(() => undefined);
  }

  get isReady(): boolean {
    const { told, restMs } = this.asked.worker;
    return !this.isBusy && !this.isSettled && told === 'run' && restMs === 0;
  }

  /** Notes a check of a model that may have waiting requests. `isServing`: other claims take its requests. */
  noteLook(modelId: string, isServing: boolean): void {
    if (!this.isBusy) this.passedOver.delete(modelId);
    else if (!isServing) this.passedOver.add(modelId);
  }

  /** How many runs of the model it takes; 0: none now. */
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

/** Returns up to `count` slots of the waiting claims, one from each in turns, the longest waiting first. */
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
