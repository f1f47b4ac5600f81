import { Injectable } from '@nestjs/common';
import type { Group, Model } from '../../models/model.js';
import { ModelsService } from '../../models/models.service.js';
import { QueueEvents } from '../queue-events.js';
import { WaitingIndex } from '../waiting/waiting-index.js';

/** A worker asks for its next run within this time after a slot has become free, or its model loses its turn. */
export const nextClaimMs = 500;
/** A model whose claim found nothing is skipped for this long, although this node knows of waiting requests. */
const passedOverMs = 1_000;

/** The turn of a model: its weights are loaded. */
interface Turn {
  modelId: string;
  /** The time at which the turn began, by `performance.now()`. */
  since: number;
}

/**
 * Decides which model of a group starts the next run: the one whose turn it is, while it has work and its stay lasts,
 * otherwise the one whose next request has the higher priority, and then the longer wait. It knows the starts
 * of this node, and those of other nodes whose requests had waited, some milliseconds late.
 */
@Injectable()
export class GroupTurns {
  /** By group. */
  private readonly turns = new Map<string, Turn>();
  /** By group: the time at which the model whose turn it is last had something to claim. */
  private readonly wokenAt = new Map<string, number>();
  /** By model: the time until which it is skipped. */
  private readonly passedOver = new Map<string, number>();

  constructor(
    private readonly models: ModelsService,
    private readonly index: WaitingIndex,
    events: QueueEvents,
  ) {
    events.subscribe(({ started, work }) => {
      if (!models.hasGroups) return;
      for (const { modelId } of started ?? []) this.noteStart(modelId);
      for (const id of work ?? []) this.noteWork(id);
    });
  }

  /**
   * Returns how many runs of the model may start now, as far as its group allows it. `isReady`: whether a request of
   * another model could be started here and now.
   */
  room(model: Model, isReady: (other: Model) => boolean): number {
    const { group } = model;
    if (group === null) return Infinity;
    const waits = (other: Model): boolean => this.hasWork(other) && (other.id === model.id || isReady(other));
    const staying = this.staying(group, waits);
    if (staying !== undefined && staying.id !== model.id) return 0;
    const others = this.models.membersOf(group).filter((other) => other.id !== model.id && waits(other));
    if (others.length === 0) return Infinity;
    // One at a time, because the next may be another model's.
    return staying !== undefined || others.every((other) => this.goesBefore(model, other)) ? 1 : 0;
  }

  /** Returns the milliseconds that the turn of the model may last yet; 0: it is another model's, or over. */
  leftMs(modelId: string): number {
    const group = this.models.get(modelId)?.group;
    const turn = group ? this.turns.get(group.id) : undefined;
    if (!group || turn?.modelId !== modelId) return 0;
    return Math.max(0, group.stayMs - (performance.now() - turn.since));
  }

  /** Notes how many runs a claim has started. */
  noteClaim({ id, group }: Model, brought: number): void {
    if (group === null) return;
    if (brought > 0) this.passedOver.delete(id);
    else this.passedOver.set(id, performance.now() + passedOverMs);
  }

  noteStart(modelId: string): void {
    const group = this.models.get(modelId)?.group;
    if (!group) return;
    const turn = this.turns.get(group.id);
    const now = performance.now();
    if (turn?.modelId !== modelId || now - turn.since >= group.stayMs)
      this.turns.set(group.id, { modelId, since: now });
  }

  /** Returns whether a request of the model waits that a claim may find. */
  hasWork({ id, paused }: Model): boolean {
    const isPassedOver = (this.passedOver.get(id) ?? 0) > performance.now();
    return paused === null && !isPassedOver && this.index.claimable(id) > 0;
  }

  private noteWork(modelId: string): void {
    this.passedOver.delete(modelId);
    const group = this.models.get(modelId)?.group;
    if (group && this.turns.get(group.id)?.modelId === modelId) this.wokenAt.set(group.id, performance.now());
  }

  /** Returns the model that keeps its turn. */
  private staying(group: Group, waits: (model: Model) => boolean): Model | undefined {
    const turn = this.turns.get(group.id);
    if (turn === undefined || performance.now() - turn.since >= group.stayMs) return undefined;
    const members = this.models.membersOf(group);
    const model = members.find(({ id }) => id === turn.modelId);
    if (model === undefined || !(waits(model) || this.isExpected(model, group))) return undefined;
    const isUrgent = (other: Model): boolean =>
      waits(other) && this.priorityOf(other) < this.priorityOf(model);
    return members.some(isUrgent) ? undefined : model;
  }

  /** A worker whose run has just ended will ask for the next one. */
  private isExpected(model: Model, group: Group): boolean {
    const wokenAt = this.wokenAt.get(group.id) ?? -Infinity;
    return model.takenBy === 'workers' && this.hasWork(model) && performance.now() - wokenAt < nextClaimMs;
  }

  private priorityOf({ id }: Model): number {
    return this.index.next(id)?.priority ?? Infinity;
  }

  private goesBefore(model: Model, other: Model): boolean {
    const [own, its] = [this.index.next(model.id), this.index.next(other.id)];
    if (own === undefined || its === undefined) return its === undefined;
    return own.priority < its.priority || (own.priority === its.priority && own.seq < its.seq);
  }
}
