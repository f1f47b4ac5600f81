import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import type { Model } from '../models/model.js';
import { QueueEvents } from '../queue/queue-events.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { type FrontEntry, readFronts } from './queries/queue-fronts.js';

const maxMarks = 120;
/** Requests per mark, if more requests wait than there are marks. */
const steps = [1, 2, 5];
/** The queues of at most this many models are drawn. */
const maxModels = 40;

/** The front of each queue as marks to draw, with the keys of the requests. */
@Injectable()
export class QueueFronts {
  private fronts = new Map<string, { step: number; marks: FrontEntry[] }>();
  /** Requests, by seq, that have started or left since the fronts were read. */
  private readonly gone = new Set<number>();

  constructor(
    private readonly database: ObservingDatabase,
    private readonly index: WaitingIndex,
    events: QueueEvents,
  ) {
    events.subscribe(({ started = [], removed = [] }) => {
      if (this.fronts.size === 0) return;
      for (const { seq } of started) this.gone.add(seq);
      for (const { seq } of removed) this.gone.add(seq);
    });
  }

  async read(models: readonly Model[]): Promise<void> {
    const waiting = models.filter(({ id }) => this.index.depth(id) > 0).slice(0, maxModels);
    const asked = waiting.map(({ id: modelId }) => {
      const depth = this.index.depth(modelId);
      const step = steps.find((one) => one * maxMarks >= depth) ?? steps.at(-1)!;
      return { modelId, step, max: maxMarks * step };
    });
    const rows = asked.length === 0 ? [] : await readFronts(this.database, asked);
    this.gone.clear();
    this.fronts = new Map(
      asked.map(({ modelId, step }) => [
        modelId,
        { step, marks: rows.filter((row) => row.modelId === modelId) },
      ]),
    );
  }

  /** Forgets the fronts, because there are no more readers. */
  forget(): void {
    this.fronts.clear();
    this.gone.clear();
  }

  marksOf(modelId: string): { step: number; marks: FrontEntry[] } | undefined {
    const front = this.fronts.get(modelId);
    if (front === undefined || this.index.depth(modelId) === 0) return undefined;
    return { step: front.step, marks: front.marks.filter(({ seq }) => !this.gone.has(seq)) };
  }
}
