import { idOf } from './budget.js';
import type { ShareBook } from './share-book.js';
import type { BudgetKey, HolderBeat, KeeperListener, ShareStore, WriteResult } from './share-store.js';

/** Gives back shares that other nodes have asked for. */
export class GiveBack {
  private readonly asked = new Map<string, BudgetKey>();
  private hadTurn = false;

  constructor(
    private readonly store: ShareStore,
    private readonly book: ShareBook,
    private readonly listener: KeeperListener,
    private readonly now: () => number,
  ) {}

  get hasWork(): boolean {
    return this.asked.size > 0;
  }

  /** Alternates with other writes that are due, because nodes may ask without end. */
  takeTurn(othersAreDue: boolean): boolean {
    this.hadTurn = this.hasWork && !(this.hadTurn && othersAreDue);
    return this.hadTurn;
  }

  ask(keys: readonly BudgetKey[]): void {
    for (const key of keys) this.asked.set(idOf(key), key);
  }

  abandon(): void {
    this.asked.clear();
  }

  /** undefined: there was nothing to give. */
  async write(nextBeat: () => HolderBeat): Promise<WriteResult | undefined> {
    const keys = [...this.asked.values()];
    this.asked.clear();
    const { budgets, rows } = this.book.giveBack(keys, this.now());
    if (rows.length === 0) return undefined;
    let written: WriteResult;
    try {
      written = await this.store.write(nextBeat(), { rows, forgotten: [], silent: [] });
      if (!written.isKnown) return written;
      this.book.noteRows(written.asked);
      const given = new Set(keys.map(idOf));
      this.ask(written.asked.filter((key) => !given.has(idOf(key))));
    } catch (error) {
      this.book.putBackUnwritten(budgets);
      throw error;
    } finally {
      this.book.release(budgets);
    }
    this.listener.gave(rows.map(({ key }) => key));
    return written;
  }
}
