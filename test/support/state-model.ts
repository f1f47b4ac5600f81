import type { AttemptOutcome, Outcome } from '../../src/queue/request-state.js';

export interface ModelLease {
  token: string;
  /** Either `node` or `worker` is set. */
  node: string | null;
  worker: string | null;
  cancelRequested: boolean;
  lines: number;
}

export type Place = Pick<ModelRequest, 'priority' | 'start' | 'seq'>;

export interface ModelRequest {
  id: string;
  priority: number;
  /** Its virtual start. */
  start: number;
  seq: number;
  /** True if its time limit for waiting is over. */
  overdue: boolean;
  /** True if it waits for the time to join its queue. */
  isScheduled: boolean;
  /** True if it counts against the bound of its key. */
  isBounded: boolean;
  place: 'queue' | 'delay' | 'held' | 'lease' | 'end';
  outcome: Outcome | null;
  code: string | null;
  lease: ModelLease | null;
  /** The outcomes of its ended runs, without the current one. */
  ended: AttemptOutcome[];
  events: string[];
  /** Tokens of its past leases. */
  pastTokens: string[];
  retryOf: string | null;
  retriedAs: string | null;
  erased: boolean;
}

/** After this many lost nodes, a request is not tried again. */
export const lostLimit = 2;

/** The rules of the queue in memory, as simple as possible. */
export class QueueModel {
  readonly requests: ModelRequest[] = [];

  at(...places: ModelRequest['place'][]): ModelRequest[] {
    return this.requests.filter(({ place }) => places.includes(place));
  }

  submit(id: string, { priority, start, seq }: Place, overdue: boolean, isBounded = false): void {
    const open = { place: isBounded ? 'held' : 'queue', outcome: null, code: null, lease: null } as const;
    this.requests.push({
      id,
      priority,
      start,
      seq,
      overdue,
      isScheduled: false,
      isBounded,
      ...open,
      ended: [],
      events: [],
      pastTokens: [],
      retryOf: null,
      retriedAs: null,
      erased: false,
    });
  }

  /** Submits a new request like the original one. */
  retry(original: ModelRequest, id: string, place: Omit<Place, 'priority'>): void {
    this.submit(id, { ...place, priority: original.priority }, original.overdue, original.isBounded);
    this.requests.at(-1)!.retryOf = original.id;
    original.retriedAs = id;
  }

  /** Deletes texts and keeps events. */
  erase(request: ModelRequest): void {
    request.erased = true;
    request.events = request.events.map((event) => event.split(' ', 2).join(' '));
  }

  /** The waiting requests, in queue order. */
  waiting(...places: ModelRequest['place'][]): ModelRequest[] {
    return this.at('queue', ...places).sort(
      (a, b) => a.priority - b.priority || a.start - b.start || a.seq - b.seq,
    );
  }

  /** Lets the first bounded requests into the queue, up to the bound, and takes the others back. */
  release(max: number): Record<'letIn' | 'takenBack', ModelRequest[]> {
    const elsewhere = this.at('lease', 'delay').filter(({ isBounded }) => isBounded);
    const all = this.waiting('held').filter(({ isBounded }) => isBounded);
    const room = Math.max(0, max - elsewhere.length);
    const letIn = all.slice(0, room).filter(({ place }) => place === 'held');
    const takenBack = all.slice(room).filter(({ place }) => place === 'queue');
    for (const request of letIn) request.place = 'queue';
    for (const request of takenBack) request.place = 'held';
    return { letIn, takenBack };
  }

  /** The requests that a claim takes: the first of the queue that are not overdue. */
  next(limit: number): ModelRequest[] {
    return this.waiting()
      .filter(({ overdue }) => !overdue)
      .slice(0, limit);
  }

  /** Starts a run on a node, or by a worker. */
  start(request: ModelRequest, token: string, node: string | null, worker: string | null = null): void {
    request.place = 'lease';
    request.lease = { token, node, worker, cancelRequested: false, lines: 0 };
    request.events.push(`started ${attemptOf(request)}`);
  }

  /** Appends `count` lines from number `from` on, if they are the next ones. */
  log(request: ModelRequest, from: number, count: number): void {
    const lease = request.lease!;
    if (from !== lease.lines) return;
    while (lease.lines < from + count) request.events.push(`log ${attemptOf(request)} line ${lease.lines++}`);
  }

  finish(request: ModelRequest, outcome: Outcome, how: AttemptOutcome, code: string | null): void {
    this.endRun(request, how);
    this.complete(request, outcome, code);
  }

  /** Returns false if the request was asked to stop, so that it may not be requeued. */
  requeue(request: ModelRequest, how: AttemptOutcome, delayed: boolean): boolean {
    if (request.lease!.cancelRequested) return false;
    this.endRun(request, how);
    request.place = delayed ? 'delay' : 'queue';
    request.events.push(`requeued ${request.ended.length}`);
    return true;
  }

  promote(request: ModelRequest, place: Omit<Place, 'priority'>, isBounded: boolean): void {
    const isHeld = request.isScheduled && isBounded;
    if (isHeld) request.isBounded = true;
    Object.assign(request, { place: isHeld ? 'held' : 'queue', ...place, isScheduled: false });
  }

  cancel(request: ModelRequest): 'cancelled' | 'requested' | 'completed' {
    if (request.place === 'end') return 'completed';
    if (request.lease === null) {
      this.complete(request, 'cancelled', 'cancelled');
      return 'cancelled';
    }
    if (!request.lease.cancelRequested) request.events.push(`cancel_requested ${attemptOf(request)}`);
    request.lease.cancelRequested = true;
    return 'requested';
  }

  expire(): ModelRequest[] {
    const over = this.at('queue', 'delay', 'held').filter(({ overdue }) => overdue);
    for (const request of over) this.complete(request, 'expired', 'expired');
    return over;
  }

  /** Loses all runs of a node or a worker. */
  lose(lostOne: string): ModelRequest[] {
    const lost = this.requests.filter(({ lease }) => [lease?.node, lease?.worker].includes(lostOne));
    for (const request of lost) {
      const { cancelRequested, worker } = request.lease!;
      this.endRun(request, 'lost');
      const lostRuns = request.ended.filter((how) => how === 'lost').length;
      if (cancelRequested) this.complete(request, 'cancelled', 'cancelled');
      else if (lostRuns >= lostLimit)
        this.complete(request, 'failed', worker === null ? 'node_lost' : 'worker_lost');
      else {
        request.place = 'queue';
        request.events.push(`requeued ${request.ended.length}`);
      }
    }
    return lost;
  }

  private endRun(request: ModelRequest, how: AttemptOutcome): void {
    request.ended.push(how);
    request.pastTokens.push(request.lease!.token);
    request.lease = null;
  }

  private complete(request: ModelRequest, outcome: Outcome, code: string | null): void {
    Object.assign(request, { place: 'end', outcome, code });
    request.events.push(`completed ${request.ended.length}`);
  }
}

/** The number of the current run. */
export function attemptOf({ ended, lease }: ModelRequest): number {
  return ended.length + (lease === null ? 0 : 1);
}
