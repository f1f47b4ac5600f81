import { Injectable } from '@nestjs/common';
import { Clock } from '../database/clock.js';
import { Database } from '../database/database.js';
import { ObservingDatabase } from '../database/observing-database.js';
import { QueueEvents } from '../queue/queue-events.js';
import { CountingDuty } from './counting-duty.js';
import { type ActivityRow, addActivity, pruneActivity, readActivity } from './queries/activity.js';
import { type Counts, dayMs, minuteMs, Tally } from './tally.js';

const historyMinutes = 60;
/** The minutes that every read includes. What other nodes add to older ones shows when all are read again. */
const readAgainMinutes = 3;
const readAllEveryMs = 60_000;
/** After this time without a reader, nothing more is kept for readers. */
const lookedAtMs = 30_000;
const writeWithinMs = 2_000;

/** The counts that were read of all nodes, and those that this node has added since. */
class Shown {
  readonly minutes = new Tally();
  days = new Tally();
  since = new Tally();
  readAllAt = -Infinity;
}

/**
 * How many requests were started and ended, by minute and by day, on all nodes. They are counted in memory and added to
 * the table soon after. A node that is killed loses what it had not added yet.
 */
@Injectable()
export class Activity extends CountingDuty {
  /** Requests that run as probes. The start of a probe counts after its run, unless that did not reach the model. */
  private readonly probes = new Set<string>();
  private shown: Shown | undefined;
  /** Counts that come during a read and are not in its result. */
  private unread: Tally | undefined;
  private lookedAt = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly observing: ObservingDatabase,
    private readonly clock: Clock,
    events: QueueEvents,
  ) {
    super(writeWithinMs);
    events.on('request.started', (requests) => {
      for (const { id, modelId, isProbe = false } of requests)
        if (isProbe) this.probes.add(id);
        else this.note(modelId, { started: 1 });
    });
    events.on('request.requeued', (requests) => {
      for (const { id, modelId, reason } of requests)
        if (this.probes.delete(id) && reason !== 'unreached') this.note(modelId, { started: 1 });
    });
    events.on('request.completed', (requests) => {
      for (const { id, modelId, outcome } of requests) {
        const started = this.probes.delete(id) ? 1 : 0;
        this.note(modelId, { started, completed: 1, failed: outcome === 'failed' ? 1 : 0 });
      }
    });
  }

  write(): Promise<void> {
    if (performance.now() - this.lookedAt > lookedAtMs) this.shown = undefined;
    return this.exclusively(() => this.add(this.take()));
  }

  /** Updates what is shown by the counts of all nodes. */
  read(): Promise<void> {
    this.lookedAt = performance.now();
    return this.exclusively(async () => {
      const taken = this.take();
      const unread = (this.unread = new Tally());
      try {
        await this.add(taken);
        const shown = (this.shown ??= new Shown());
        await this.readInto(shown);
        shown.since = unread;
      } finally {
        this.unread = undefined;
      }
    });
  }

  startedToday(modelId: string): number {
    const today = dayOf(this.clock.now());
    const { days, since } = this.shown ?? new Shown();
    return days.get(today, modelId).started + since.toDays().get(today, modelId).started;
  }

  /** Returns the counts of the last hour by minute, the current one last. */
  history(modelId: string): (Counts & { at: number })[] {
    const first = minuteOf(this.clock.now()) - (historyMinutes - 1) * minuteMs;
    return Array.from({ length: historyMinutes }, (_, i) => {
      const at = first + i * minuteMs;
      return { at, ...this.ofMinute(at, modelId) };
    });
  }

  /** Returns the average over the last minute. */
  startedPerSecond(modelId: string): number {
    const now = this.clock.now();
    const part = (now % minuteMs) / minuteMs;
    const [before, current] = [minuteOf(now) - minuteMs, minuteOf(now)];
    const started =
      this.ofMinute(before, modelId).started * (1 - part) + this.ofMinute(current, modelId).started;
    return Math.round((started / 60) * 100) / 100;
  }

  private async readInto(shown: Shown): Promise<void> {
    const now = this.clock.now();
    const readsAll = performance.now() - shown.readAllAt > readAllEveryMs;
    const from = minuteOf(now) - (readsAll ? historyMinutes : readAgainMinutes) * minuteMs;
    const rows = await readActivity(this.observing, from, dayOf(now));
    shown.days = new Tally();
    for (const { span, at, modelId, started, completed, failed } of rows)
      (span === 'day' ? shown.days : shown.minutes).set(at, modelId, { started, completed, failed });
    shown.minutes.dropBefore(minuteOf(now) - historyMinutes * minuteMs);
    if (readsAll) shown.readAllAt = performance.now();
  }

  private ofMinute(at: number, modelId: string): Counts {
    const { minutes, since } = this.shown ?? new Shown();
    const [read, more] = [minutes.get(at, modelId), since.get(at, modelId)];
    return {
      started: read.started + more.started,
      completed: read.completed + more.completed,
      failed: read.failed + more.failed,
    };
  }

  private note(modelId: string, counts: Partial<Counts>): void {
    const at = minuteOf(this.clock.now());
    this.count(at, modelId, counts);
    this.shown?.since.add(at, modelId, counts);
    this.unread?.add(at, modelId, counts);
  }

  protected addToTable(counted: Tally): Promise<void> {
    const rows = (span: ActivityRow['span'], tally: Tally): ActivityRow[] =>
      tally.rows().map((row) => ({ span, ...row }));
    return addActivity(this.database, [...rows('minute', counted), ...rows('day', counted.toDays())]);
  }

  protected prune(): Promise<void> {
    return pruneActivity(this.database);
  }

  /** Nothing may be written between a write and the read after it, or it would be counted twice. */
  private exclusively(work: () => Promise<void>): Promise<void> {
    const done = this.last.then(work);
    this.last = done.catch(() => undefined);
    return done;
  }
}

const minuteOf = (ms: number): number => ms - (ms % minuteMs);
const dayOf = (ms: number): number => ms - (ms % dayMs);
