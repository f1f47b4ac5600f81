import { now, sleep } from '../clock.js';
import type { Postgres } from './postgres.js';

/** Which node had how many slots of which model, over time; to explain a count that was exceeded. */
export class GrantHistory {
  private readonly changes: { at: number; grants: string }[] = [];
  private watching = true;

  constructor(private readonly postgres: Postgres) {}

  async watch(): Promise<void> {
    while (this.watching) {
      try {
        await this.look();
      } catch {
        // the database is away
      }
      await sleep(300);
    }
  }

  stop(): void {
    this.watching = false;
  }

  /** What changed in the seconds before. */
  before(at: number, modelId: string): string {
    return this.changes
      .filter((change) => change.at > at - 15_000 && change.at < at + 1_000)
      .map((change) => {
        const own = change.grants.split('; ').filter((grant) => grant.startsWith(modelId));
        return `${Math.round(change.at)}: ${own.join(', ')}`;
      })
      .join(' | ');
  }

  private async look(): Promise<void> {
    const [row] = await this.postgres.query<{ grants: string }>(
      `SELECT coalesce(string_agg(model_id || ' ' || coalesce(node.name, left(node_id::text, 18) || ' (gone)') || ' ' || slots,
                                  '; ' ORDER BY model_id, node_id), '') AS grants
       FROM slot_grant LEFT JOIN node ON node.id = node_id`,
    );
    if (row!.grants !== this.changes.at(-1)?.grants) this.changes.push({ at: now(), grants: row!.grants });
  }
}
