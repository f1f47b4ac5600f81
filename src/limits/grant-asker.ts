import { unavailable } from './admission.js';
import type { HolderWatch } from './holder-watch.js';
import type { ShareBook, TakenRequest } from './share-book.js';
import type { ShareMessages, ShareStore, Timing } from './share-store.js';

/** In one statement, and statements at once: their commits share the wait for the disk. */
const maxGrants = 200;
const maxStatements = 3;
/** Fewer do not go behind a statement that is under way, for a commit of their own. */
const minBehind = 8;

/** The node that asks. */
export interface GrantNode {
  /** undefined: nothing may be asked for now. */
  holder(): string | undefined;
  isAlive(now: number): boolean;
  /** The others gave it up. */
  lose(): void;
  failed(error: unknown): void;
  /** A statement has ended; there may be more to do. */
  ended(): void;
}

/** Asks the database for the shares that the book wants, and hands them to it. */
export class GrantAsker {
  private readonly statements = new Set<Promise<void>>();
  private dueAt = Infinity;

  constructor(
    private readonly store: ShareStore,
    private readonly book: ShareBook,
    private readonly watch: HolderWatch,
    private readonly messages: ShareMessages,
    private readonly timing: Timing,
    private readonly node: GrantNode,
  ) {}

  askIn(ms: number): void {
    if (this.dueAt <= this.timing.now() + ms) return;
    this.dueAt = this.timing.now() + ms;
    this.timing.after(ms, () => {
      this.dueAt = Infinity;
      this.ask();
    });
  }

  ask(): void {
    for (;;) {
      const holder = this.node.holder();
      const { size } = this.statements;
      if (holder === undefined || size >= maxStatements || (size > 0 && this.book.wanted < minBehind)) return;
      const taken = this.book.takeGrantRequests(this.watch.nodes, maxGrants, this.timing.now());
      if (taken.length === 0) return;
      const asking = this.askFor(holder, taken).finally(() => {
        this.statements.delete(asking);
        this.node.ended();
      });
      this.statements.add(asking);
    }
  }

  /** Resolves when no statement is under way. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.statements);
  }

  private async askFor(holder: string, taken: readonly TakenRequest[]): Promise<void> {
    const requests = taken.map(({ request }) => request);
    const budgets = taken.map(({ budget }) => budget);
    try {
      const gone = this.watch.gone(this.timing.now());
      const { isKnown, grants, strays } = await this.store.grant(holder, requests, gone);
      this.book.release(budgets);
      if (holder !== this.node.holder()) throw unavailable();
      if (!isKnown) return this.node.lose();
      const now = this.timing.now();
      this.watch.noteGone(strays, now);
      if (!this.node.isAlive(now)) return this.book.rejectHeld(unavailable());
      budgets.forEach((budget, i) => this.book.applyGrant(budget, grants[i]!, now));
      const short = requests.filter((_, i) => grants[i]!.isShort).map(({ key }) => key);
      if (short.length > 0 && this.watch.nodes > 1) this.messages.asked(short);
    } catch (error) {
      this.node.failed(error);
      this.book.release(budgets);
      this.book.rejectHeld(error, budgets);
      // What it may have granted all the same is given back with the next write.
      this.book.putBackUnwritten(budgets);
    }
  }
}
