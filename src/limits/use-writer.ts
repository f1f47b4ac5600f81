import type { Budget } from './budget.js';
import type { HolderWatch } from './holder-watch.js';
import type { ShareBook } from './share-book.js';
import type { HolderBeat, ShareStore, WriteResult } from './share-store.js';
import { defaultKey } from './default-share.js';

/** Rows in one statement: few enough that a caller that waits for a grant does not wait long for the write. */
const maxRows = 500;
/**
 * At most this many budgets without a row per round. Until a budget has its row, the default-share row counts for it.
 */
const maxRowless = 5_000;

interface Round {
  beganAt: number;
  budgets: readonly Budget[];
  written: number;
}

/** Writes use behind in rounds of several statements. The last statement of a round names the silent holders. */
export class UseWriter {
  private isDue = false;
  private round: Round | undefined;

  constructor(
    private readonly store: ShareStore,
    private readonly book: ShareBook,
    private readonly watch: HolderWatch,
    private readonly now: () => number,
  ) {}

  get hasWork(): boolean {
    return this.isDue || this.round !== undefined;
  }

  /** Makes a round due, after the one under way if there is one. */
  begin(): void {
    this.isDue = true;
  }

  /** Ends the round. What it has not written stays due. */
  abandon(): void {
    if (this.round !== undefined) this.book.putBackUnwritten(this.round.budgets.slice(this.round.written));
    this.round = undefined;
    this.isDue = false;
  }

  private newRound(now: number): Round {
    this.isDue = false;
    if (this.watch.nodes > 1) this.book.putBackUnwritten(this.book.defaultShare.release(maxRowless));
    return { beganAt: now, budgets: this.book.takeUnwritten(now), written: 0 };
  }

  /** `completedFrom`: the time at which the round began that this statement completes. */
  async writeSome(beat: HolderBeat): Promise<WriteResult & { completedFrom?: number }> {
    const now = this.now();
    const idle = this.round === undefined ? this.book.takeIdle(now) : [];
    const round = (this.round ??= this.newRound(now));
    const end = round.written + maxRows;
    const isLast = end >= round.budgets.length;
    const budgets = this.book.takeWritable(round.budgets.slice(round.written, end));
    const rows = this.book.takeRows(budgets, now);
    const silent = isLast ? this.watch.silent(now) : [];
    try {
      const forgotten = idle.map(({ key }) => key);
      if (isLast && this.watch.nodes > 1 && !this.book.defaultShare.isInUse) forgotten.push(defaultKey);
      const result = await this.store.write(beat, { rows, forgotten, silent });
      if (!result.isKnown) return result;
      this.book.noteRows(result.asked);
      this.book.forget(idle);
      for (const budget of budgets) this.book.defaultShare.markWritten(budget);
      round.written = end;
      if (!isLast) return result;
      this.round = undefined;
      this.watch.see(result.holders, this.now());
      const finished = this.watch.takeFinished(this.now());
      if (finished.length > 0) await this.store.prune(finished);
      return { ...result, completedFrom: round.beganAt };
    } finally {
      this.book.release([...budgets, ...idle]);
    }
  }

  /**
   * Asks for a default share if it may be granted, otherwise again after the next round. It runs between two rounds, so
   * that no round finds that another node has joined meanwhile.
   */
  async acquireDefault(holder: string): Promise<void> {
    if (!this.watch.isOnly || this.book.defaultShare.isInUse) return;
    await this.book.defaultShare.acquire(async () => {
      const { isGranted, gone } = await this.store
        .acquireDefault(holder)
        .catch(() => ({ isGranted: false, gone: [] }));
      this.watch.noteGone(gone, this.now());
      return isGranted;
    });
  }
}
