import type { Budget } from './budget.js';
import type { BudgetKey } from './share-store.js';

/** A default share has a tenth of each limit, rounded down. */
export const defaultDivisor = 10;
/** Key of the row by which a holder has a default share. No caller, class or policy has such a name. */
export const defaultKey: BudgetKey = { subject: '*', routeClass: '*', policy: '*' };

/**
 * The part that the only node of a cluster holds of every caller's limit, even if no node has seen the caller: the
 * first call waits for no grant. It is one row. Other nodes count it as a share of each budget of which this node holds
 * no more.
 */
export class DefaultShare {
  private isHeld = false;
  /** Budgets that began with the default share and have no row of their own yet. */
  private readonly rowless = new Set<Budget>();
  private lives = 0;

  /** Whether calls may have been admitted under it that no other row counts. */
  get isInUse(): boolean {
    return this.isHeld || this.rowless.size > 0;
  }

  /** Asks the database for it by `ask`. The answer is void if the node starts over meanwhile. */
  async acquire(ask: () => Promise<boolean>): Promise<void> {
    const { lives } = this;
    if ((await ask()) && lives === this.lives) this.isHeld = true;
  }

  /** Gives a new budget the default share. No node holds the rest of its limit. */
  applyTo(budget: Budget): void {
    if (!this.isHeld) return;
    for (const window of budget.windows) {
      window.share = Math.floor(window.window.limit / defaultDivisor);
      window.unallocated = window.window.limit - window.share;
    }
    this.rowless.add(budget);
  }

  /** The budget has a row of its own, or holds nothing. */
  markWritten(budget: Budget): void {
    this.rowless.delete(budget);
  }

  /**
   * Gives the share to no further budget. Returns at most `max` budgets that need rows before its own row is deleted.
   */
  release(max: number): Budget[] {
    this.isHeld = false;
    return [...this.rowless].slice(0, max);
  }

  /** Forgets the share, which belonged to this node's previous holder. */
  beginAnew(): void {
    this.isHeld = false;
    this.lives++;
    this.rowless.clear();
  }
}
