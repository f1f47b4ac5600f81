import type { Budget } from './budget.js';
import type { HolderWatch } from './holder-watch.js';
import type { ShareBook } from './share-book.js';
import type { HolderBeat, ShareStore, WriteResult } from './share-store.js';
import { defaultKey } from './default-share.js';

/** So that a caller who waits for a grant does not wait for many rows. */
const maxRows = 500;
/** Of those without a row, so that a round is not late for them: until they have one, the default share tells of them. */
const maxRowless = 5_000;

interface Round {
  beganAt: number;
  budgets: readonly Budget[];
  written: number;
}

/** Writes behind what was used, round after round, a part at a time; the last part of each says who is silent. */
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

  /** A round is to begin, unless one goes on. */
  begin(): void {
    this.isDue = true;
  }

  /** What is not written stays to be written. */
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

  /** `completedFrom`: when the round began that this was the last of. */
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
   * Asks for a default share, if it may be had; else again after the next round. Between two rounds: none may find that
   * another has joined meanwhile.
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
