import { unavailable } from './admission.js';
import type { HolderWatch } from './holder-watch.js';
import type { Budget } from './budget.js';
import type { ShareBook } from './share-book.js';
import type { GrantRequest, KeeperListener, ShareStore, Timing } from './share-store.js';

/** Budgets in one statement, and statements at once. Their commits share the wait for the disk. */
const maxGrants = 200;
const maxStatements = 3;
/** Fewer budgets than this wait while a statement is under way that was just sent: they are not worth a commit. */
const minBehind = 8;
const slowMs = 100;
/** Prefetch: on top of what waits, a node that shares a limit asks for this part of it, divided by the nodes. */
const prefetchPart = 1 / 4;

/** The keeper, as far as the asker needs it. */
interface Asker {
  /** undefined: nothing may be asked for now. */
  holder(): string | undefined;
  /** Whether `id` is still the holder, even if it may be too late to admit by a grant. */
  isHolder(id: string): boolean;
  lose(): void;
  /** A statement has ended, and there may be more to do. */
  ended(): void;
}

/** Asks the database for the shares that the book wants, and hands them to it. */
export class GrantAsker {
  private readonly statements = new Set<Promise<void>>();
  private dueAt = Infinity;
  private sentAt = -Infinity;

  constructor(
    private readonly store: ShareStore,
    private readonly book: ShareBook,
    private readonly watch: HolderWatch,
    private readonly listener: KeeperListener,
    private readonly timing: Timing,
    private readonly asker: Asker,
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
      const holder = this.asker.holder();
      const { size } = this.statements;
      if (holder === undefined || size >= maxStatements) return;
      const now = this.timing.now();
      if (size > 0 && this.book.wanting.size < minBehind && now - this.sentAt < slowMs) return;
      const budgets = this.book.takeWanting(maxGrants, now);
      if (budgets.length === 0) return;
      this.sentAt = now;
      const asking = this.askFor(holder, budgets).finally(() => {
        this.statements.delete(asking);
        this.asker.ended();
      });
      this.statements.add(asking);
    }
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.statements);
  }

  private async askFor(holder: string, budgets: readonly Budget[]): Promise<void> {
    const sentAt = this.timing.now();
    const requests = budgets.map((budget) => requestOf(budget, this.watch.nodes, sentAt));
    try {
      const { isKnown, grants, strays } = await this.store.grant(holder, requests, this.watch.gone(sentAt));
      this.book.release(budgets);
      if (!this.asker.isHolder(holder)) throw unavailable();
      if (!isKnown) return this.asker.lose();
      const mayServe = this.asker.holder() !== undefined;
      const now = this.timing.now();
      this.watch.noteGone(strays, now);
      budgets.forEach((budget, i) => this.book.applyGrant(budget, grants[i]!, now, mayServe));
      const short = budgets.filter((_, i) => grants[i]!.isShort);
      // Their rows may count more than the node holds, and that may be all that is missing.
      this.book.putBackUnwritten(short);
      if (short.length > 0 && this.watch.nodes > 1) this.listener.asked(short.map(({ key }) => key));
    } catch (error) {
      this.listener.failed?.(error);
      this.book.release(budgets);
      this.book.rejectHeld(error, budgets);
      // If the shares were granted all the same, the next write gives them back.
      this.book.putBackUnwritten(budgets);
    }
  }
}

/** Returns a request for what waits and some more. The grant also writes the budget's row, so that it is not due. */
export function requestOf(budget: Budget, nodes: number, now: number): GrantRequest {
  const { key, shares: held, used: usedBefore } = budget.toRow(now);
  const waiting = budget.heldCount;
  budget.unwritten = -waiting;
  const used = usedBefore.map((count) => count + waiting);
  const needed = held.map((share, i) => Math.max(0, used[i]! - share));
  const limits = budget.windows.map(({ window }) => window.limit);
  const wanted = budget.windows.map(({ share, runsLow }, i) => {
    const limit = limits[i]!;
    if (nodes === 1) return limit - share;
    if (needed[i] === 0 && !runsLow) return 0;
    const beyond = Math.ceil((limit * prefetchPart) / nodes);
    return Math.max(Math.ceil(limit / nodes) - share, needed[i]! + beyond);
  });
  const windowsMs = budget.windows.map(({ window }) => window.windowMs);
  return { key, limits, windowsMs, held, used, needed, wanted };
}
