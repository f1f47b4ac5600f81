import pg from 'pg';
import { now, sleep } from '../chaos/clock.js';
import type { PostgresNode } from './topology/postgres-node.js';

const everyMs = 100;
const connectMs = 2_000;
/** A commit that waits for a standby this long is given up. Its session ends, and another one tries. */
const commitMs = 5_000;

/** A write that a node committed and answered. */
export interface Write {
  node: string;
  at: number;
}

/** Writes to every node that takes writes, past all proxies, and so knows which one is the primary at any time. */
export class PrimaryWatch {
  readonly writes: Write[] = [];
  private isWatching = true;

  constructor(private readonly nodes: readonly PostgresNode[]) {}

  start(): void {
    for (const node of this.nodes) void this.watch(node);
  }

  stop(): void {
    this.isWatching = false;
  }

  /** The first write from `from` on, of any node but `not`. */
  firstWrite(from: number, not?: string): Write | undefined {
    return this.writes.find(({ node, at }) => at >= from && node !== not);
  }

  /** The end of the longest time from `from` on in which no node took a write. */
  endOfLongestGap(from: number): number {
    const times = [from, ...this.writes.map(({ at }) => at).filter((at) => at > from)];
    let end = from;
    let longest = 0;
    for (const [i, at] of times.entries()) {
      const gap = at - (times[i - 1] ?? at);
      if (gap <= longest) continue;
      longest = gap;
      end = at;
    }
    return end;
  }

  private async watch(node: PostgresNode): Promise<void> {
    while (this.isWatching) {
      const client = new pg.Client({
        connectionString: node.directUrl,
        connectionTimeoutMillis: connectMs,
        query_timeout: commitMs,
        application_name: 'drill',
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        while (this.isWatching) await this.tryToWrite(client, node.name);
      } catch {
        // the node is away, or was demoted
      }
      void client.end().catch(() => undefined);
      await sleep(everyMs);
    }
  }

  private async tryToWrite(client: pg.Client, node: string): Promise<void> {
    const { rows } = await client.query<{ isStandby: boolean }>('SELECT pg_is_in_recovery() AS "isStandby"');
    if (!rows[0]!.isStandby) {
      await client.query(`SELECT pg_logical_emit_message(true, 'drill', 'watch')`);
      this.writes.push({ node, at: now() });
    }
    await sleep(everyMs);
  }
}
