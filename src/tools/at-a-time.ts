import { Turns } from './turns.js';

/** Runs at most `max` pieces of work at a time. Callers of the others take turns. */
export class AtATime {
  private running = 0;
  private readonly waiting = new Turns<() => void>();

  constructor(private readonly max: number) {}

  async run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    if (this.running >= this.max) await new Promise<void>((resolve) => this.waiting.add(caller, resolve));
    else this.running++;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      // The time counts only while others wait for a turn.
      if (this.waiting.size > 0) this.waiting.charge(caller, performance.now() - startedAt);
      const next = this.waiting.next(() => false);
      if (next === undefined) this.running--;
      // Runs in its own turn of the event loop, so that other calls can come between.
      else setImmediate(next.item);
    }
  }
}
