import { now, sleep, type Span } from '../clock.js';
import type { Postgres } from './postgres.js';

/** Time between two reads. */
const lookMs = 300;

/** Records which node had how many slots of which model, to judge and to explain a count that was exceeded. */
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
      await sleep(lookMs);
    }
  }

  stop(): void {
    this.watching = false;
  }

  /** Changes in the 15 s before. */
  before(at: number, modelIds: readonly string[]): string {
    return this.changes
      .filter((change) => change.at > at - 15_000 && change.at < at + 1_000)
      .map((change) => {
        const own = change.grants.split('; ').filter((grant) => modelIds.some((id) => grant.startsWith(id)));
        return `${Math.round(change.at)}: ${own.join(', ')}`;
      })
      .join(' | ');
  }

  /** A time before which the node was not given up within the span; Infinity: it was not given up. */
  givenUpAt(node: string, { from, to }: Span): number {
    const without = ({ at, grants }: { at: number; grants: string }): boolean =>
      at > from && at < to && !grants.includes(` ${node} `);
    return (this.changes.find(without)?.at ?? Infinity) - 2 * lookMs;
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
