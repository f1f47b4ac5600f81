import { isDatabaseUnavailable } from '../errors/database-error.js';

export interface BatcherOptions<Item> {
  maxItems: number;
  /** Maximum weight of one write. A heavier item gets a write of its own. */
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /** Maximum number of concurrent writes. */
  writers?: number;
  /**
   * This many items are sent at once, within the turn. The database works on them while the rest of the burst is read.
   */
  earlyItems?: number;
  /**
   * While a write is in progress, fewer items than this wait for its end instead of using their own commit. Default: 1.
   */
  itemsBehind?: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Collects items while a write is in progress and sends them as the next write. There is no timer: an idle writer sends
 * the items of one turn of the event loop, a busy one sends many in one commit. With several writers, part of a burst
 * may be sent before the turn has ended. A few items may have to wait for all writes in progress: see the options.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private writing = 0;
  private dueThisTurn = false;

  constructor(
    /** Writes the items in one statement and returns one result per item, in order. */
    private readonly write: (items: Item[]) => Promise<Result[]>,
    private readonly options: BatcherOptions<Item>,
  ) {}

  get isIdle(): boolean {
    return this.waiting.length === 0 && this.writing === 0;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      if (this.waiting.length >= (this.options.earlyItems ?? Infinity)) this.pump();
      if (this.waiting.length > 0) this.pumpThisTurn();
    });
  }

  /**
   * Writes after the event loop has delivered everything that had arrived. Requests come in bursts, and a burst should
   * be one write.
   */
  private pumpThisTurn(): void {
    if (this.dueThisTurn) return;
    this.dueThisTurn = true;
    setImmediate(() => {
      this.dueThisTurn = false;
      this.pump();
    });
  }

  private pump(): void {
    while (this.waiting.length > 0 && this.mayWrite()) {
      const batch = this.take();
      this.writing++;
      void this.send(batch).finally(() => {
        this.writing--;
        this.pump();
      });
    }
  }

  private mayWrite(): boolean {
    const { writers = 1, itemsBehind = 1 } = this.options;
    return this.writing === 0 || (this.writing < writers && this.waiting.length >= itemsBehind);
  }

  private take(): Waiting<Item, Result>[] {
    const { maxItems, maxWeight = Infinity, weigh = () => 0 } = this.options;
    let count = 0;
    for (let weight = 0; count < Math.min(this.waiting.length, maxItems); count++) {
      weight += weigh(this.waiting[count]!.item);
      if (weight > maxWeight && count > 0) break;
    }
    return this.waiting.splice(0, count);
  }

  /** Resolves to the error if it was not caused by an item of the batch. */
  private async send(batch: Waiting<Item, Result>[]): Promise<unknown> {
    let failure: unknown;
    try {
      const results = await this.write(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i]!));
    } catch (error) {
      if (isDatabaseUnavailable(error)) {
        // No item of the batch caused the error. The items behind it have waited as long and would also fail.
        for (const { reject } of [...batch, ...this.waiting.splice(0)]) reject(error);
        return error;
      }
      if (batch.length === 1) return batch[0]!.reject(error);
      // Each item is sent by itself, so that a bad item makes no other fail.
      for (const one of batch) {
        if (failure === undefined) failure = await this.send([one]);
        else one.reject(failure);
      }
    }
    return failure;
  }
}
