import type { Postgres } from '../cluster/postgres.js';
import { now, overlaps, sleep, type Span } from '../clock.js';

const everyMs = 200;
/** A connection and a durable commit take a tenth of this time on a machine that is not overloaded. */
const slowMs = 150;
/** A call made in a slow moment is answered after it, and a slow moment begins before it is noticed. */
const aroundMs = 1_000;

/** Times in which the machine or its disk was overloaded. The service's promises of time do not count in them. */
export class Pace {
  readonly slow: Span[] = [];
  private isWatching = true;

  constructor(private readonly postgres: Pick<Postgres, 'query'>) {}

  /** A database that is away does not count as slow, because its faults are known. */
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
