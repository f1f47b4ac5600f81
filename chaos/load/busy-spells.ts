import { now, type Span } from '../clock.js';

const tickMs = 20;
/** A tick that is so late is no sign of work. */
const lateMs = 20;

/** When the harness was busy by itself: what happened meanwhile it notices in no order, and at the end of it at the latest. */
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

  /** Since when what was noticed at this time may have been so. */
  since(at: number): number {
    const spell = this.spells.find(({ from, to }) => from <= at && at <= to);
    return spell?.from ?? at;
  }

  /** What is noticed in one turn of the event loop may have come in the one before. */
  private add({ from, to }: Span): void {
    const before = this.spells.at(-1);
    if (before !== undefined && from <= before.to) before.to = to;
    else this.spells.push({ from, to });
  }
}
