import { sleep } from '../clock.js';
import type { Postgres } from '../cluster/postgres.js';

const everyMs = 100;

/**
 * How many submissions one commit wrote: rows with one xmin. It counts rows of `queue_entry`, which a submission writes
 * with its request, because they are never changed. A row of attempt 0 is from its submission.
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
      'SELECT xmin::text AS xmin, count(*)::integer AS rows FROM queue_entry WHERE attempt = 0 GROUP BY 1',
    );
    for (const { xmin, rows } of commits) {
      this.rowsOfCommit.set(xmin, Math.max(rows, this.rowsOfCommit.get(xmin) ?? 0));
    }
  }
}
