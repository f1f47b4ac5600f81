import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { ModelsService } from '../../models/models.service.js';
import { Duty } from '../../tools/duty.js';
import { findWeights, maxMoved, move } from '../queries/move.js';
import { QueueEvents } from '../queue-events.js';
import { type Advance, ticksFor } from '../waiting/fair-queue.js';
import { FreedTurns } from '../waiting/freed-turns.js';
import { type MovedEntry, WaitingIndex } from '../waiting/waiting-index.js';

/** At most this many requests of one queue move per round. Those behind them move in the next round. */
const maxOfRound = 2_000;
const soonMs = 100;
const idleMs = 60_000;

/** Moves up the requests that wait behind cancelled and expired requests of their key, into the freed turns. */
@Injectable()
export class Mover extends Duty {
  protected readonly intervalMs = 1_000;
  private readonly freed = new FreedTurns();

  constructor(
    private readonly database: Database,
    private readonly models: ModelsService,
    private readonly index: WaitingIndex,
    private readonly events: QueueEvents,
  ) {
    super();
    // Each node handles its own removals.
    events.subscribe(({ removed }, origin) => {
      if (removed === undefined || origin === 'elsewhere') return;
      this.freed.note(removed, performance.now());
      this.scheduleWithin(soonMs);
    });
  }

  async runOnce(): Promise<void> {
    const due = this.freed.due(performance.now());
    if (due.length === 0) return;
    const weights = await findWeights(this.database);
    for (const { modelId, priority, orderKeys } of due) {
      if (this.models.get(modelId)?.order === 'arrival') continue;
      const ticks = new Map(orderKeys.map((key) => [key, ticksFor('fair', weights.get(key) ?? 1)]));
      const advances = this.index.advances(modelId, priority, ticks, maxOfRound);
      for (let at = 0; at < advances.length; at += maxMoved) {
        const moved = await this.move(modelId, priority, advances.slice(at, at + maxMoved));
        // More requests may be able to move.
        this.freed.note(moved, performance.now());
      }
    }
  }

  private async move(
    modelId: string,
    priority: number,
    advances: readonly Advance[],
  ): Promise<readonly MovedEntry[]> {
    this.index.beginMoves(advances);
    try {
      const moved = await move(this.database, modelId, priority, advances);
      this.events.publish({ moved, changed: moved.map(({ id }) => id), work: [modelId] });
      return moved;
    } finally {
      this.index.endMoves(advances);
    }
  }

  protected override nextIntervalMs(): number {
    return this.freed.isEmpty ? idleMs : this.intervalMs;
  }
}
