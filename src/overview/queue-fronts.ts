import { Injectable } from '@nestjs/common';
import { ObservingDatabase } from '../database/observing-database.js';
import type { Model } from '../models/model.js';
import { QueueEvents } from '../queue/queue-events.js';
import { WaitingIndex } from '../queue/waiting/waiting-index.js';
import { BoundedCache } from '../tools/bounded-cache.js';
import { type FrontEntry, type KeyName, readFronts, readKeyNames } from './queries/queue-fronts.js';

const maxMarks = 120;
/** Requests per mark, if more requests wait than there are marks. */
const steps = [1, 2, 5];
/** The queues of at most this many models are drawn. */
const maxModels = 40;
const maxKeys = 8;
const namedForMs = 60_000;

export interface KeyWaiting {
  keyId: string;
  name: string | null;
  waiting: number;
}

/** The front of each queue as marks to draw, with the keys of the requests. */
@Injectable()
export class QueueFronts {
  private readonly names = new BoundedCache<KeyName>(1_000);
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
    await this.readNames(waiting);
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

  /** Returns the keys with most waiting: of all requests if keys take turns, otherwise of those that are drawn. */
  keysOf({ id, order }: Model): KeyWaiting[] {
    const counted = order === 'fair' ? this.ofIndex(id) : this.ofMarks(id);
    return counted.sort((one, other) => other.waiting - one.waiting).slice(0, maxKeys);
  }

  private ofIndex(modelId: string): KeyWaiting[] {
    const now = performance.now();
    return [...this.index.waitingByKey(modelId)].flatMap(([orderKey, waiting]) => {
      const key = this.names.get(String(orderKey), now);
      return key === undefined ? [] : { ...key, waiting };
    });
  }

  private ofMarks(modelId: string): KeyWaiting[] {
    const { step = 1, marks = [] } = this.marksOf(modelId) ?? {};
    const keys = new Map<string, KeyWaiting>();
    for (const { keyId, name } of marks) {
      const waiting = (keys.get(keyId)?.waiting ?? 0) + step;
      keys.set(keyId, { keyId, name, waiting });
    }
    return [...keys.values()];
  }

  private async readNames(models: readonly Model[]): Promise<void> {
    const now = performance.now();
    const largest = models.flatMap(({ id }) =>
      [...this.index.waitingByKey(id)].sort(([, one], [, other]) => other - one).slice(0, maxKeys),
    );
    const unnamed = new Set(largest.map(([key]) => key).filter((key) => !this.names.get(String(key), now)));
    if (unnamed.size === 0) return;
    for (const [key, name] of await readKeyNames(this.database, [...unnamed]))
      this.names.set(String(key), name, now + namedForMs);
  }
}
