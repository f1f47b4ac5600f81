import { Injectable } from '@nestjs/common';
import { OnEvent } from '@nestjs/event-emitter';
import { Clock } from '../../database/clock.js';
import { type Model, slotsBelow } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../queue-events.js';
import type { RequestEvents } from '../request-events.js';
import { GroupTurns } from '../runs/group-turns.js';
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
    private readonly turns: GroupTurns,
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

  of(row: StatusRow, { position, reason }: Waiting): Estimate | undefined {
    if (row.state === 'IN_PROGRESS') return this.ofRunning(row);
    // It is unknown how long any other reason to wait lasts.
    return reason === 'busy' && !this.index.isHeld(row) ? this.ofEntry(row, position) : undefined;
  }

  private follow(): void {
    for (const { id, concurrency, group } of this.service.all()) {
      const known = this.models.get(id);
      const slots = Math.min(concurrency ?? 0, group?.concurrency ?? Infinity);
      if (known === undefined) this.models.set(id, new ModelEstimates(slots));
      else known.slots = slots;
    }
  }

  /** Returns the estimate of a request that waits for a slot and for nothing else. */
  ofEntry(key: QueueKey, ownPosition: number): Estimate | undefined {
    const { modelId, priority, start } = key;
    const model = this.models.get(modelId);
    const span = this.index.span(modelId, priority);
    const position = ownPosition + this.aheadInGroup(key);
    const longestOtherMs = Math.max(0, ...this.othersInGroup(modelId).map(({ id }) => this.longestMs(id)));
    const place = { position, priority, start, longestOtherMs, slots: this.slotsFor(key) };
    const startIn = model?.startIn(place, span, performance.now());
    return startIn && { start: this.at(startIn), end: this.at(model!.endIn(startIn)) };
  }

  /** Returns the slots of the model that a request of this priority may use. undefined: all of them. */
  private slotsFor({ modelId, priority }: QueueKey): number | undefined {
    const reserve = this.service.get(modelId)?.reserve;
    const slots = this.models.get(modelId)?.slots ?? 0;
    if (reserve === undefined || slots === 0 || priority < 0) return undefined;
    return slotsBelow(slots, reserve)[priority === 0 ? 0 : 1];
  }

  /** Returns the requests of other models in its group that go first, as runs of its own model. */
  private aheadInGroup(key: QueueKey): number {
    const ownMs = this.models.get(key.modelId)?.runTimes.meanMs ?? 0;
    let ahead = 0;
    for (const other of this.othersInGroup(key.modelId)) {
      const { runTimes } = this.models.get(other.id)!;
      const otherMs = runTimes.isKnown && ownMs > 0 ? runTimes.meanMs : ownMs;
      ahead += this.beforeIt(key, other, otherMs) * (ownMs > 0 ? otherMs / ownMs : 1);
    }
    return Math.round(ahead);
  }

  /**
   * Returns how many requests of another model in its group go first: the older ones, and those that start in the same
   * turns, for as long as the group lets a model stay. `runMs`: the time that one takes.
   */
  private beforeIt(key: QueueKey, { id, group }: Model, runMs: number): number {
    const older = this.index.older(id, key);
    if (group === null || group.stayMs === 0 || runMs === 0) return older;
    const perMs = group.concurrency / runMs;
    const inThisTurn = this.turns.leftMs(id) * perMs;
    const inTurn = Math.max(1, group.stayMs * perMs);
    const turns = Math.ceil(Math.max(0, older - inThisTurn) / inTurn);
    return Math.min(this.index.claimableUpTo(id, key.priority), inThisTurn + turns * inTurn);
  }

  private longestMs(modelId: string): number {
    const { runTimes } = this.models.get(modelId)!;
    return runTimes.isKnown ? runTimes.longestMs : 0;
  }

  private othersInGroup(modelId: string): readonly Model[] {
    const group = this.service.get(modelId)?.group;
    return group ? this.service.membersOf(group).filter(({ id }) => id !== modelId) : [];
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
    // It occupies a slot that they share.
    for (const { id } of this.othersInGroup(modelId)) this.models.get(id)?.runBegan(performance.now());
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
