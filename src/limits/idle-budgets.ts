import type { Budget } from './budget.js';

/** At most this many budgets are looked at in a round, and at most this many found. */
const [maxLooks, maxFound] = [25_000, 1_000];

/** Finds the budgets that were not called for their longest window, a part of all budgets at a time. */
export class IdleBudgets {
  private scan: Iterator<Budget, undefined>;

  constructor(private readonly budgets: ReadonlyMap<string, Budget>) {
    this.scan = budgets.values();
  }

  find(now: number): Budget[] {
    const found: Budget[] = [];
    for (let looks = 0; looks < maxLooks && found.length < maxFound; looks++) {
      const budget = this.scan.next().value;
      if (budget === undefined) {
        this.scan = this.budgets.values();
        break;
      }
      const isUsed = budget.isBusy || budget.held.length > 0 || now - budget.calledAt <= budget.longestMs;
      if (!isUsed) found.push(budget);
    }
    return found;
  }
}
