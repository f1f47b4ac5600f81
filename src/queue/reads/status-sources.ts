import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Observable, Subject } from 'rxjs';
import { Clock } from '../../database/clock.js';
import { Coalesced } from '../../tools/coalesced.js';
import { steady } from '../estimates/estimate.js';
import { hasSameProgress, type Snapshot, type StatusRow } from './status-row.js';
import { type QueueChanges, queueChanges } from '../queue-events.js';
import { QueueService } from '../queue.service.js';

class Source {
  readonly subject = new Subject<Snapshot>();
  sentAt = performance.now();
  watchers = 0;
  /** Watchers that are shown positions. */
  viewers = 0;
  /** Reads the row again. `isStale`: the last read failed. */
  readonly reads = new Coalesced(() => this.read(this));
  isStale = false;
  looks = 0;
  progressAt = -Infinity;
  progressDue: NodeJS.Timeout | undefined;

  constructor(
    public latest: Snapshot,
    private readonly read: (source: Source) => Promise<void>,
  ) {}
}

/** Positions are sent at most this often. */
const roundMs = 1_000;
/** Positions are sent in this many steps: ten thousand at once would keep the process busy for a third of a second. */
const stepsPerRound = 50;
const stepMs = roundMs / stepsPerRound;
/** Positions per step: 5,000 a second. If more have changed, a round takes longer. */
const maxUpdatesPerStep = (5_000 * stepMs) / 1_000;
/** An estimate costs more than a position. For a request that does not move, it is made once in this many rounds. */
const looksPerEstimate = 5;
/** Progress is sent at most this often, whatever else changes. */
const progressEveryMs = 250;
/** Every source is read again this often, or once a round, in case a message between nodes was lost. */
const refreshEveryMs = 20_000;

/**
 * Keeps one source of status snapshots per request in this process, shared by all streams and long polls that watch it.
 */
@Injectable()
export class StatusSources {
  private readonly sources = new Map<string, Source>();
  private ticker: NodeJS.Timeout | undefined;
  /** This round reads every source again. */
  private refreshes = false;
  private refreshedAt = 0;
  private round = this.sources.values();
  private roundBeganAt = 0;
  private roundIsOver = true;
  private closed = false;

  constructor(
    private readonly queue: QueueService,
    private readonly clock: Clock,
  ) {}

  /** The number of streams and long polls. */
  get watchers(): number {
    let watchers = 0;
    for (const source of this.sources.values()) watchers += source.watchers;
    return watchers;
  }

  @OnEvent(queueChanges)
  refreshChanged({ changed, missed }: QueueChanges): void {
    if (this.sources.size === 0) return;
    for (const id of missed === true ? this.sources.keys() : (changed ?? [])) {
      void this.sources.get(id)?.reads.run();
    }
  }

  get size(): number {
    return this.sources.size;
  }

  /**
   * Emits the newest snapshot at once, then each that differs, and completes with the request. Without `positions`, a
   * change of only the position emits nothing.
   */
  watch(row: StatusRow, { positions = true } = {}): Observable<Snapshot> {
    return new Observable((subscriber) => {
      if (this.closed) return subscriber.complete();
      const source = this.open(row, positions);
      subscriber.next(source.latest);
      subscriber.add(() => this.removeWatcher(source, positions));
      return source.subject.subscribe(subscriber);
    });
  }

  /** Ends every stream; new ones end at once. */
  closeAll(): void {
    this.closed = true;
    for (const { subject } of this.sources.values()) subject.complete();
  }

  private open(row: StatusRow, positions: boolean): Source {
    const known = this.sources.get(row.id);
    const source = known ?? new Source(this.queue.snapshot(row), (one) => this.read(one));
    source.watchers++;
    if (positions) source.viewers++;
    if (known !== undefined) {
      if (row.lastEventId > known.latest.row.lastEventId) this.emit(known, row);
      // No watcher was shown its position until now.
      else if (positions && known.viewers === 1) known.latest = this.snapshot(known.latest.row, known);
      return known;
    }
    this.sources.set(row.id, source);
    this.ticker ??= setInterval(() => this.tick(), stepMs);
    // The row was read before the source was registered: what has changed in between is read now.
    if (row.state === 'COMPLETED') source.subject.complete();
    else void source.reads.run();
    return source;
  }

  private removeWatcher(source: Source, positions: boolean): void {
    source.watchers--;
    if (positions) source.viewers--;
    if (source.watchers > 0) return;
    clearTimeout(source.progressDue);
    const { id } = source.latest.row;
    if (this.sources.get(id) === source) this.sources.delete(id);
    if (this.sources.size === 0) {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
  }

  /** Keeps the estimate that was sent last if the new one hardly differs. */
  private snapshot(row: StatusRow, { latest }: Source): Snapshot {
    const next = this.queue.snapshot(row);
    return { ...next, estimate: steady(latest.estimate, next.estimate, this.clock.now()) };
  }

  private async read(source: Source): Promise<void> {
    if (source.watchers === 0 || this.closed) return;
    source.isStale = false;
    try {
      const read = await this.queue.status(source.latest.row.id);
      if (read === undefined) return source.subject.complete();
      if (hasChanged(source.latest.row, read) && !this.mustWait(source, read)) this.emit(source, read);
    } catch {
      source.isStale = true; // the database is away: the next tick tries again
    }
  }

  /**
   * Returns whether new progress may not be sent yet. Lines of the log that came with it wait too, so that one event
   * has both. Otherwise the progress would always be that of the line before.
   */
  private mustWait(source: Source, row: StatusRow): boolean {
    const { row: sent } = source.latest;
    if (hasSameProgress(row, sent)) return false;
    const now = performance.now();
    const restMs = source.progressAt + progressEveryMs - now;
    if (restMs <= 0 || row.state !== sent.state || row.attempt !== sent.attempt) {
      source.progressAt = now;
      return false;
    }
    source.progressDue ??= setTimeout(() => {
      source.progressDue = undefined;
      void source.reads.run();
    }, restMs);
    return true;
  }

  private emit(source: Source, row: StatusRow): void {
    for (const step of stepsBetween(source.latest.row, row)) source.subject.next(pastSnapshot(step));
    source.latest = this.snapshot(row, source);
    source.sentAt = performance.now();
    source.subject.next(source.latest);
    if (row.state === 'COMPLETED') source.subject.complete();
  }

  /** Looks at the next part of the sources, so that a round is spread over its time and meets each source once. */
  private tick(): void {
    if (this.roundIsOver && !this.beginRound()) return;
    const share = Math.ceil(this.sources.size / stepsPerRound);
    let updates = 0;
    for (let looked = 0; looked < share && updates < maxUpdatesPerStep; looked++) {
      const next = this.round.next();
      this.roundIsOver = next.done === true;
      if (next.done === true) break;
      if (this.look(next.value)) updates++;
    }
  }

  private beginRound(): boolean {
    const now = performance.now();
    if (now - this.roundBeganAt < roundMs - stepMs) return false;
    this.roundBeganAt = now;
    this.round = this.sources.values();
    this.refreshes = now - this.refreshedAt >= refreshEveryMs;
    if (this.refreshes) this.refreshedAt = now;
    return true;
  }

  /** Returns whether it sent a position or an estimate. */
  private look(source: Source): boolean {
    if (source.isStale || this.refreshes) void source.reads.run();
    const { row, position, reason, estimate } = source.latest;
    if (row.state === 'COMPLETED' || source.viewers === 0) return false;
    const now = this.queue.waiting(row);
    const isMoved = now.position !== position || now.reason !== reason;
    const isEstimateDue = source.looks++ % looksPerEstimate === 0;
    if (!isMoved && !(isEstimateDue && this.snapshot(row, source).estimate !== estimate)) return false;
    // When other sources are removed, its turn in the round comes earlier.
    if (performance.now() - source.sentAt < roundMs - stepMs) return false;
    this.emit(source, row);
    return true;
  }
}

/** A scheduled request that joined its queue has a new place but no event. Progress has no event either. */
const hasChanged = (from: StatusRow, to: StatusRow): boolean =>
  to.lastEventId !== from.lastEventId ||
  !hasSameProgress(to, from) ||
  to.seq !== from.seq ||
  (to.delayedUntilMs === null) !== (from.delayedUntilMs === null);

/** Snapshot of a state that the request has already left. */
function pastSnapshot(row: StatusRow): Snapshot {
  return { row, position: 0, reason: row.state === 'IN_QUEUE' ? 'retrying' : undefined };
}

/**
 * Returns the states between two reads, oldest first: a run of a few milliseconds starts and ends between them. Each
 * change of state raises the id, so the ids are counted back from the newest: none skips an entry that a stream has
 * not shown.
 */
export function stepsBetween(from: StatusRow, to: StatusRow): StatusRow[] {
  const steps: StatusRow[] = [];
  let { state, attempt } = from;
  while (attempt < to.attempt) {
    const waited = state === 'IN_QUEUE';
    state = waited ? 'IN_PROGRESS' : 'IN_QUEUE';
    if (waited) attempt++;
    if (attempt === to.attempt && state === to.state) break;
    steps.push({ ...to, state, attempt, outcome: null, error: null, completedAtMs: null, progress: null });
  }
  return steps.map((step, index) => ({ ...step, lastEventId: to.lastEventId - (steps.length - index) }));
}
