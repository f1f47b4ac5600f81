import { now, type Span } from '../clock.js';

const tickMs = 20;
/** A tick that is late by less than this is no sign of work. */
const lateMs = 20;

/**
 * Times in which the harness itself was busy. It notices events of such a time in no order, and at its end at the
 * latest.
 */
export class BusySpells {
  private readonly spells: Span[] = [];
  private timer: NodeJS.Timeout | undefined;

  watch(): void {
    let last = now();
    this.timer = setInterval(() => {
      const at = now();
      if (at - last > tickMs + lateMs) this.add({ from: last, to: at });
      last = at;
    }, tickMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Returns the earliest time at which an event noticed at `at` may have happened. */
  since(at: number): number {
    const spell = this.spells.find(({ from, to }) => from <= at && at <= to);
    return spell?.from ?? at;
  }

  /** An event that is noticed in one turn of the event loop may have arrived in the turn before. */
  private add({ from, to }: Span): void {
    const before = this.spells.at(-1);
    if (before !== undefined && from <= before.to) before.to = to;
    else this.spells.push({ from, to });
  }
}
