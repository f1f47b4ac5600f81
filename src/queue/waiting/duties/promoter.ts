import { Injectable } from '@nestjs/common';
import { Database } from '../../../database/database.js';
import { ModelsService } from '../../../models/models.service.js';
import { findScheduledReady, nextReadyInMs, promote, type Promoted } from '../queries/promote.js';
import { QueueEvents } from '../../queue-events.js';
import { orderKeyOf, ticksFor } from '../fair-queue.js';
import { SubmissionWriter } from '../../submit/submission-writer.js';
import { WaitingIndex } from '../waiting-index.js';
import { Duty } from '../../../tools/duty.js';
import { BoundedKeys } from '../bounded-keys.js';

const soonMs = 50;

/** Lets requests whose backoff is over, or whose scheduled time has come, into their queue. */
@Injectable()
export class Promoter extends Duty {
  /** Events announce delayed requests. The interval is for an event that is lost. */
  protected readonly intervalMs = 30_000;
  protected override readonly shortestPauseMs = 10;
  protected override readonly retryMs = 1_000;
  private nextDueAt = 0;
  /** True: a request was delayed since the round began, so the round may not have seen it. */
  private isLate = false;

  constructor(
    private readonly database: Database,
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly models: ModelsService,
    private readonly boundedKeys: BoundedKeys,
    private readonly writer: SubmissionWriter,
  ) {
    super();
    events.subscribe(({ added, scheduled }) => {
      if (scheduled === true || added?.some(({ attempt }) => attempt > 0) === true) {
        this.isLate = true;
        this.scheduleWithin(soonMs);
      }
    });
  }

  async runOnce(): Promise<void> {
    this.isLate = false;
    this.nextDueAt = Infinity;
    if ((await this.look()) > 0) return;
    this.nextDueAt = Infinity;
    await this.promote();
    await this.look();
  }

  /** Returns and notes the milliseconds until the next request is due. */
  private async look(): Promise<number> {
    const inMs = (await nextReadyInMs(this.database)) ?? Infinity;
    this.nextDueAt = performance.now() + inMs;
    return inMs;
  }

  private async promote(): Promise<void> {
    const placed = (await findScheduledReady(this.database)).map((request) => {
      const { modelId, priority, keyId, weight } = request;
      const ticks = ticksFor(this.models.get(modelId)?.order ?? 'fair', weight);
      const orderKey = orderKeyOf(keyId);
      const virtualStart = this.index.reserve(modelId, priority, orderKey, ticks);
      return { ...request, ticks, orderKey, virtualStart };
    });
    try {
      await this.writer.placing(async () => this.publish(await promote(this.database, placed)));
    } finally {
      for (const { modelId, priority, orderKey, ticks, virtualStart } of placed)
        if (ticks > 0) this.index.settle(modelId, priority, orderKey, virtualStart);
    }
  }

  private publish(promoted: readonly Promoted[]): void {
    if (promoted.length === 0) return;
    this.events.publish({
      added: promoted.filter(({ isScheduled, isHeld }) => isScheduled && !isHeld),
      held: promoted.filter(({ isHeld }) => isHeld),
      changed: promoted.map(({ id }) => id),
      work: [...new Set(promoted.map(({ modelId }) => modelId))],
    });
    for (const { keyId, modelId, isHeld } of promoted)
      if (isHeld) void this.boundedKeys.release({ keyId, modelId });
  }

  protected override nextIntervalMs(): number {
    return this.isLate ? soonMs : this.intervalMs;
  }

  protected override dueInMs(): number {
    return this.nextDueAt - performance.now();
  }
}
