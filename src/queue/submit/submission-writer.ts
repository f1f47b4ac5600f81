import { Injectable } from '@nestjs/common';
import type { Submission } from './queries/submission.js';
import { BoundedKeys } from '../waiting/bounded-keys.js';
import { QueueEvents } from '../queue-events.js';
import { orderKeyOf } from '../waiting/fair-queue.js';
import { type EntryChange, WaitingIndex } from '../waiting/waiting-index.js';

/** The parts of a submission that decide its place. */
export interface Placed extends Pick<
  Submission,
  'id' | 'modelId' | 'keyId' | 'priority' | 'virtualStart' | 'options'
> {
  /** undefined: it is stored already. */
  input?: Buffer;
  /** The virtual time after which its key's next turn comes; 0: the order is arrival. */
  ticks: number;
  /** True: its key has a bound of requests that run at once. */
  isBounded: boolean;
}

export interface Written<T> {
  result: T;
  /** Resolves when the caller may see the result. */
  visibleAfter: Promise<unknown> | undefined;
}

export type WritePath = 'pipeline' | 'connection';

interface InFlight {
  ended: Promise<void>;
  /** The models whose places it writes; undefined: perhaps all models. */
  models: ReadonlySet<string> | undefined;
}

/**
 * Decides the places of requests, writes them and publishes them. If only one key submits, no position may rise after
 * a caller saw it. A pipeline draws seqs and commits in one order; other connections do not. So a caller is answered
 * once the writes in flight for its model on those connections are published too, and what was placed before.
 */
@Injectable()
export class SubmissionWriter {
  private readonly inFlight = { pipeline: new Set<InFlight>(), connection: new Set<InFlight>() };

  constructor(
    private readonly events: QueueEvents,
    private readonly index: WaitingIndex,
    private readonly boundedKeys: BoundedKeys,
  ) {}

  get isIdle(): boolean {
    return this.inFlight.pipeline.size + this.inFlight.connection.size === 0;
  }

  /** `statement` returns one row per item. A row without a seq was not written. */
  async write<Row extends object | undefined>(
    items: readonly Placed[],
    statement: () => Promise<readonly Row[]>,
    path: WritePath = 'connection',
  ): Promise<Written<Row>[]> {
    const before = [...this.inFlight.pipeline];
    for (const item of items) this.reserve(item);
    const writing = statement();
    const ended = writing
      .then(
        (rows) => this.publish(items, rows),
        () => undefined,
      )
      .finally(() => this.settle(items));
    const models = new Set(items.map(({ modelId }) => modelId));
    const own = { ended, models };
    this.inFlight[path].add(own);
    await ended.finally(() => this.inFlight[path].delete(own));
    const { pipeline, connection } = this.inFlight;
    // Later writes in the pipeline have later places. Requests placed before may still be on their way to it.
    const placedBefore = before.filter((one) => pipeline.has(one));
    const others = path === 'pipeline' ? [...placedBefore, ...connection] : [...pipeline, ...connection];
    const ofModels = others.filter((one) => one.models === undefined || overlap(one.models, models));
    const visibleAfter = ofModels.length === 0 ? undefined : Promise.all(ofModels.map((one) => one.ended));
    return (await writing).map((result) => ({ result, visibleAfter }));
  }

  /** Tracks the write of places that its caller has reserved: a request placed behind these is answered after them. */
  async placing<T>(write: () => Promise<T>): Promise<T> {
    const writing = write();
    const ended = writing.then(
      () => undefined,
      () => undefined,
    );
    const own = { ended, models: undefined };
    this.inFlight.connection.add(own);
    return writing.finally(() => this.inFlight.connection.delete(own));
  }

  /** A scheduled request gets its place when it joins the queue. */
  private reserve(item: Placed): void {
    const { modelId, priority, keyId, ticks, options } = item;
    if (options?.notBefore !== undefined) return;
    item.virtualStart = this.index.reserve(modelId, priority, orderKeyOf(keyId), ticks);
  }

  private settle(items: readonly Placed[]): void {
    for (const { modelId, priority, keyId, ticks, options, virtualStart } of items)
      if (ticks > 0 && options?.notBefore === undefined)
        this.index.settle(modelId, priority, orderKeyOf(keyId), virtualStart);
  }

  private publish(items: readonly Placed[], rows: readonly (object | undefined)[]): void {
    const written = items.flatMap((item, i) => {
      const row = rows[i];
      return row !== undefined && 'seq' in row ? [{ item, seq: row.seq as number }] : [];
    });
    if (written.length === 0) return;
    this.events.emit('request.submitted', () =>
      written.map(({ item: { id, modelId, keyId, input } }) => ({
        id,
        modelId,
        keyId,
        inputBytes: input?.length,
      })),
    );
    const added: EntryChange[] = [];
    const held: EntryChange[] = [];
    for (const { item, seq } of written) {
      const { modelId, keyId, priority, virtualStart: start, ticks, options } = item;
      if (options?.notBefore !== undefined) continue;
      const orderKey = ticks > 0 ? orderKeyOf(keyId) : 0;
      (item.isBounded ? held : added).push({ modelId, priority, start, seq, attempt: 0, orderKey });
    }
    this.events.publish({
      added,
      ...(held.length > 0 && { held }),
      work: [...new Set(added.map(({ modelId }) => modelId))],
      ...(added.length + held.length < written.length && { scheduled: true }),
    });
    if (held.length > 0) this.release(items.filter(({ isBounded }) => isBounded));
  }

  private release(items: readonly Placed[]): void {
    const queues = new Map(items.map((item) => [`${item.keyId} ${item.modelId}`, item]));
    for (const queue of queues.values()) void this.boundedKeys.release(queue);
  }
}

function overlap(some: ReadonlySet<string>, others: ReadonlySet<string>): boolean {
  for (const one of some) if (others.has(one)) return true;
  return false;
}
