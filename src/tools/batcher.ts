import { isDatabaseUnavailable } from '../errors/database-error.js';

export interface BatcherOptions<Item> {
  maxItems: number;
  /** Most weight in one write; an item above it travels alone. */
  maxWeight?: number;
  weigh?: (item: Item) => number;
  /** How many writes may be under way at once. */
  writers?: number;
  /** So many go at once, in the middle of a turn: the database works on them while the rest of the burst is read. */
  earlyItems?: number;
  /** Fewer do not go behind a write that is under way, for a commit of their own: they wait for its end. Default: 1. */
  itemsBehind?: number;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Collects what arrives while a write is under way and sends it as the next one. There is no timer: an idle writer
 * takes what one turn of the event loop brought, a busy one takes one commit for many. With several writers a part of
 * a burst may go before the turn has ended, and a few may have to wait for all that is under way; see the options.
 */
export class Batcher<Item, Result> {
  private waiting: Waiting<Item, Result>[] = [];
  private writing = 0;
  private dueThisTurn = false;

  constructor(
    /** Writes the items in one statement and returns one result an item, in their order. */
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

  /** Once the event loop has handed out what had arrived: requests come in bursts, and a burst is one write. */
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

  /** Resolves to the failure, if it was for nothing in the batch. */
  private async send(batch: Waiting<Item, Result>[]): Promise<unknown> {
    let failure: unknown;
    try {
      const results = await this.write(batch.map(({ item }) => item));
      batch.forEach(({ resolve }, i) => resolve(results[i]!));
    } catch (error) {
      if (isDatabaseUnavailable(error)) {
        // It was not for an item of the batch: those behind it have waited as long and would fare no better.
        for (const { reject } of [...batch, ...this.waiting.splice(0)]) reject(error);
        return error;
      }
      if (batch.length === 1) return batch[0]!.reject(error);
      // So that one bad item fails alone.
      for (const one of batch) {
        if (failure === undefined) failure = await this.send([one]);
        else one.reject(failure);
      }
    }
    return failure;
  }
}
