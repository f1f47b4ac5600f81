import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Observable, ReplaySubject, finalize } from 'rxjs';
import type { StatusRow } from '../queue/status-row.js';
import { QueueEvents } from '../queue/queue-events.js';
import { QueueService } from '../queue/queue.service.js';
import { stepsBetween } from './steps-between.js';

/** A request's row and its place, as of one moment. */
export interface Snapshot {
  row: StatusRow;
  /** 0 unless it waits. */
  position: number;
}

interface Source {
  readonly subject: ReplaySubject<Snapshot>;
  latest: Snapshot;
  watchers: number;
  /** A read is under way; another is due after it. */
  reading: boolean;
  stale: boolean;
}

/** Positions are told at most this often. */
const positionTickMs = 1_000;
/** Every source is read again this often, in case a message between nodes was lost. */
const refreshEveryTicks = 20;

/** One source of status snapshots a request and process, shared by all streams that watch it. */
@Injectable()
export class StatusSources implements OnModuleInit {
  private readonly sources = new Map<string, Source>();
  private unsubscribe: (() => void) | undefined;
  private ticker: NodeJS.Timeout | undefined;
  private ticks = 0;
  private closed = false;

  constructor(
    private readonly queue: QueueService,
    private readonly events: QueueEvents,
  ) {}

  onModuleInit(): void {
    this.unsubscribe = this.events.subscribe(({ changed, missed }) => {
      for (const id of changed ?? []) {
        const source = this.sources.get(id);
        if (source !== undefined) void this.refresh(id, source);
      }
      if (missed === true) for (const [id, source] of this.sources) void this.refresh(id, source);
    });
  }

  /** How many requests are watched now. */
  get size(): number {
    return this.sources.size;
  }

  /** The newest snapshot at once, then each that differs; completes with the request. */
  watch(row: StatusRow): Observable<Snapshot> {
    return new Observable((subscriber) => {
      if (this.closed) return subscriber.complete();
      const source = this.open(row);
      source.watchers++;
      return source.subject.pipe(finalize(() => this.leave(row.id, source))).subscribe(subscriber);
    });
  }

  /** Ends every stream; new ones end at once. */
  closeAll(): void {
    this.closed = true;
    this.unsubscribe?.();
    for (const { subject } of [...this.sources.values()]) subject.complete();
  }

  private open(row: StatusRow): Source {
    const known = this.sources.get(row.id);
    if (known !== undefined) {
      if (row.lastEventId > known.latest.row.lastEventId) this.emit(known, row);
      return known;
    }
    const source: Source = {
      subject: new ReplaySubject<Snapshot>(1),
      latest: { row, position: 0 },
      watchers: 0,
      reading: false,
      stale: false,
    };
    this.sources.set(row.id, source);
    this.ticker ??= setInterval(() => this.tick(), positionTickMs);
    this.emit(source, row);
    // The row was read before the source was registered: what changed in between is read now.
    if (row.state !== 'COMPLETED') void this.refresh(row.id, source);
    return source;
  }

  private leave(id: string, source: Source): void {
    source.watchers--;
    if (source.watchers > 0) return;
    if (this.sources.get(id) === source) this.sources.delete(id);
    if (this.sources.size === 0) {
      clearInterval(this.ticker);
      this.ticker = undefined;
    }
  }

  private async refresh(id: string, source: Source): Promise<void> {
    source.stale = true;
    if (source.reading) return;
    source.reading = true;
    try {
      while (source.stale && source.watchers > 0 && !this.closed) {
        source.stale = false;
        const row = await this.queue.status(id);
        if (row === undefined) source.subject.complete();
        else if (row.lastEventId !== source.latest.row.lastEventId) this.emit(source, row);
      }
    } catch {
      source.stale = true; // the database is away: the next tick tries again
    } finally {
      source.reading = false;
    }
  }

  private emit(source: Source, row: StatusRow): void {
    for (const step of stepsBetween(source.latest.row, row)) source.subject.next({ row: step, position: 0 });
    source.latest = { row, position: row.state === 'IN_QUEUE' ? this.queue.position(row) : 0 };
    source.subject.next(source.latest);
    if (row.state === 'COMPLETED') source.subject.complete();
  }

  private tick(): void {
    this.ticks++;
    for (const [id, source] of this.sources) {
      if (source.stale || this.ticks % refreshEveryTicks === 0) void this.refresh(id, source);
      const { row, position } = source.latest;
      if (row.state === 'IN_QUEUE' && this.queue.position(row) !== position) this.emit(source, row);
    }
  }
}
