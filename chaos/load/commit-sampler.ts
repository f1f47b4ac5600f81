import { sleep } from '../clock.js';
import type { Postgres } from '../cluster/postgres.js';

const everyMs = 100;

/**
 * How many submissions one commit wrote: rows with one xmin. Only waiting requests that never ran are looked at, for
 * every change of a row gives it another.
 */
export class CommitSampler {
  private readonly rowsOfCommit = new Map<string, number>();
  private sampling = true;

  constructor(private readonly postgres: Postgres) {}

  async start(): Promise<void> {
    while (this.sampling) {
      try {
        await this.sample();
      } catch {
        // the database is away
      }
      await sleep(everyMs);
    }
  }

  stop(): void {
    this.sampling = false;
  }

  get result(): { largestCommit: number; groupedCommits: number } {
    const sizes = [...this.rowsOfCommit.values()];
    return {
      largestCommit: Math.max(0, ...sizes),
      groupedCommits: sizes.filter((rows) => rows > 1).length,
    };
  }

  private async sample(): Promise<void> {
    const commits = await this.postgres.query<{ xmin: string; rows: number }>(
      `SELECT xmin::text AS xmin, count(*)::integer AS rows
       FROM request
       WHERE state = 'IN_QUEUE' AND attempt = 0 AND model_id IN ('chaos/echo', 'chaos/fast')
       GROUP BY 1`,
    );
    for (const { xmin, rows } of commits) {
      this.rowsOfCommit.set(xmin, Math.max(rows, this.rowsOfCommit.get(xmin) ?? 0));
    }
  }
}
