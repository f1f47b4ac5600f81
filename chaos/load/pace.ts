import type { Postgres } from '../cluster/postgres.js';
import { now, overlaps, sleep, type Span } from '../clock.js';

const everyMs = 200;
/** A connection and a commit that is on disk take a tenth of it on a machine that is not overrun. */
const slowMs = 150;
/** What was asked for in a slow moment is answered after it, and a burst begins before it is noticed. */
const aroundMs = 1_000;

/** When the machine or its disk was overrun: the service's promises of time do not count there. */
export class Pace {
  readonly slow: Span[] = [];
  private isWatching = true;

  constructor(private readonly postgres: Postgres) {}

  /** A database that is away is no slow one: its faults are known. */
  async watch(): Promise<void> {
    while (this.isWatching) {
      const from = now();
      await this.postgres
        .query(`SELECT pg_logical_emit_message(true, 'chaos', 'pace')`)
        .catch(() => undefined);
      await sleep(everyMs);
      const to = now();
      if (to - from > everyMs + slowMs) this.slow.push({ from: from - aroundMs, to: to + aroundMs });
    }
  }

  stop(): void {
    this.isWatching = false;
  }

  isSlow(from: number, to: number): boolean {
    return this.slow.some((span) => overlaps(span, from, to));
  }
}
