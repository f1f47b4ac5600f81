import type { Budget } from './budget.js';
import type { BudgetKey } from './share-store.js';

/** A default share has a tenth of each limit, rounded down. */
export const defaultDivisor = 10;
/** The row that says that its holder has one. No caller, class or policy has such a name. */
export const defaultKey: BudgetKey = { subject: '*', routeClass: '*', policy: '*' };

/**
 * What a node that is alone holds of the limit of every caller, also of those that nobody has met: their first call
 * waits for no grant. It is one row, which the other nodes count as a share of each budget that this node has not more of.
 */
export class DefaultShare {
  private isHeld = false;
  /** Budgets that began with it and have no row of their own yet. */
  private readonly rowless = new Set<Budget>();
  private lives = 0;

  /** Whether calls may have been admitted by it of which no other row tells. */
  get isInUse(): boolean {
    return this.isHeld || this.rowless.size > 0;
  }

  /** `ask`s the database for it. It has none if the node begins anew meanwhile. */
  async acquire(ask: () => Promise<boolean>): Promise<void> {
    const { lives } = this;
    if ((await ask()) && lives === this.lives) this.isHeld = true;
  }

  /** A budget that is new; of what it has not, nobody holds anything. */
  applyTo(budget: Budget): void {
    if (!this.isHeld) return;
    for (const window of budget.windows) {
      window.share = Math.floor(window.window.limit / defaultDivisor);
      window.unallocated = window.window.limit - window.share;
    }
    this.rowless.add(budget);
  }

  /** It has a row that says what it holds, or holds nothing. */
  markWritten(budget: Budget): void {
    this.rowless.delete(budget);
  }

  /** Gives it to no other budget. Some of those whose rows are to be written before it may go. */
  release(max: number): Budget[] {
    this.isHeld = false;
    return [...this.rowless].slice(0, max);
  }

  /** It was this node's last holder's, as all it had. */
  beginAnew(): void {
    this.isHeld = false;
    this.lives++;
    this.rowless.clear();
  }
}
