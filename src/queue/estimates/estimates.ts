import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Clock } from '../../database/clock.js';
import { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../queue-events.js';
import type { RequestEvents } from '../request-events.js';
import type { StatusRow, Waiting } from '../reads/status-row.js';
import { type EntryChange, type QueueKey, WaitingIndex } from '../waiting/waiting-index.js';
import type { Estimate, TimeSpan } from './estimate.js';
import { type Interval, ModelEstimates } from './model-estimates.js';

/** Estimates when requests start and end, as far as this process can tell from what it sees. */
@Injectable()
export class Estimates {
  readonly models = new Map<string, ModelEstimates>();

  constructor(
    private readonly service: ModelsService,
    private readonly index: WaitingIndex,
    private readonly clock: Clock,
    events: QueueEvents,
  ) {
    this.follow();
    service.changes.subscribe(() => this.follow());
    events.subscribe(({ added, removed, started }, origin) => {
      if (added !== undefined && added.length > 0) this.noteAdded(added);
      if (removed !== undefined) this.noteLeft(removed);
      if (started === undefined) return;
      this.noteLeft(started);
      // Runs of this node come as an event, also those that never waited.
      if (origin === 'elsewhere') for (const { modelId } of started) this.noteRun(modelId);
    });
  }

  @OnEvent('request.started')
  noteStarted(requests: RequestEvents['request.started']): void {
    for (const { modelId } of requests) this.noteRun(modelId);
  }

  @OnEvent('request.completed')
  @OnEvent('request.requeued')
  noteEnded(requests: RequestEvents['request.completed'] | RequestEvents['request.requeued']): void {
    for (const { modelId, runMs } of requests)
      if (runMs !== undefined) this.models.get(modelId)?.runTimes.add(runMs);
  }

  /** Returns the estimate of a request that waits for a slot and for nothing else. */
  ofEntry(entry: QueueKey, position: number): Estimate | undefined {
    return this.ofWaiting(entry, position);
  }

  of(row: StatusRow, { position, reason }: Waiting): Estimate | undefined {
    if (row.state === 'IN_PROGRESS') return this.ofRunning(row);
    // It is unknown how long any other reason to wait lasts.
    return reason === 'busy' && !this.index.isHeld(row) ? this.ofWaiting(row, position) : undefined;
  }

  private follow(): void {
    for (const { id, concurrency } of this.service.all()) {
      const known = this.models.get(id);
      const slots = concurrency ?? 0;
      if (known === undefined) this.models.set(id, new ModelEstimates(slots));
      else known.slots = slots;
    }
  }

  private ofWaiting({ modelId, priority, start }: QueueKey, position: number): Estimate | undefined {
    const model = this.models.get(modelId);
    const span = this.index.span(modelId, priority);
    const startIn = model?.startIn({ position, priority, start }, span, performance.now());
    return startIn && { start: this.at(startIn), end: this.at(model!.endIn(startIn)) };
  }

  private ofRunning({ modelId, startedAtMs }: StatusRow): Estimate | undefined {
    const endIn = this.models.get(modelId)?.endOfRunIn(this.clock.now() - startedAtMs!);
    return endIn && { start: undefined, end: this.at(endIn) };
  }

  private at({ from, to }: Interval): TimeSpan {
    const now = this.clock.now();
    return { fromMs: Math.round(now + from), toMs: Math.round(now + to) };
  }

  private noteRun(modelId: string): void {
    this.models.get(modelId)?.runBegan(performance.now());
  }

  /** Entries of one model and priority follow each other within a commit. */
  private noteAdded(added: readonly EntryChange[]): void {
    const now = performance.now();
    for (let at = 0; at < added.length;) {
      const { modelId, priority } = added[at]!;
      const starts: number[] = [];
      for (; at < added.length && isOf(added[at]!, modelId, priority); at++) starts.push(added[at]!.start);
      this.models.get(modelId)?.added(priority, starts, this.index.span(modelId, priority), now);
    }
  }

  private noteLeft(entries: readonly EntryChange[]): void {
    const now = performance.now();
    let last: EntryChange | undefined;
    for (const entry of entries) {
      const { modelId, priority } = entry;
      if (last === undefined || !isOf(last, modelId, priority))
        this.models.get(modelId)?.left(priority, this.index.span(modelId, priority), now);
      last = entry;
    }
  }
}

const isOf = (entry: EntryChange, modelId: string, priority: number): boolean =>
  entry.modelId === modelId && entry.priority === priority;
