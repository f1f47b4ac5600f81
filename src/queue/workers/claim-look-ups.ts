import type { Database } from '../../database/database.js';
import { findClaims, type LeasedRun } from './queries/worker-leases.js';

/** Long polls look up their claims together: most claims are new, and the others have time. */
const togetherMs = 500;

interface LookUp {
  claimId: string;
  isWanted: () => boolean;
  resolve(runs: LeasedRun[]): void;
  reject(error: unknown): void;
}

/** Finds the runs that repeated claims got before. A thousand repeated long polls cost a few queries a second. */
export class ClaimLookUps {
  private waiting: LookUp[] = [];
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Infinity;

  constructor(private readonly database: Database) {}

  /** `isWanted`: asked just before the query. */
  find(claimId: string, withinMs: number, isWanted: () => boolean): Promise<LeasedRun[]> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ claimId, isWanted, resolve, reject });
      const waitMs = Math.min(togetherMs, withinMs);
      const dueAt = performance.now() + waitMs;
      if (dueAt >= this.dueAt) return;
      clearTimeout(this.timer);
      this.dueAt = dueAt;
      this.timer = setTimeout(() => void this.flush(), waitMs);
    });
  }

  private async flush(): Promise<void> {
    this.dueAt = Infinity;
    const all = this.waiting.splice(0);
    const wanted = all.filter(({ isWanted }) => isWanted());
    for (const { resolve } of all.filter((one) => !wanted.includes(one))) resolve([]);
    if (wanted.length === 0) return;
    try {
      const ids = [...new Set(wanted.map(({ claimId }) => claimId))];
      const found = await findClaims(this.database, ids);
      for (const { claimId, resolve } of wanted) resolve(found.filter((run) => run.claimId === claimId));
    } catch (error) {
      for (const { reject } of wanted) reject(error);
    }
  }
}
