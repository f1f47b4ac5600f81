import { Turns } from './turns.js';

/** Executes so many pieces of work at a time. The others wait, and their callers take turns. */
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
      // Where nobody waits, nobody's turn is shorter for what this one took.
      if (this.waiting.size > 0) this.waiting.charge(caller, performance.now() - startedAt);
      const next = this.waiting.next(() => false);
      if (next === undefined) this.running--;
      // In a turn of the event loop of its own, so that other calls come between.
      else setImmediate(next.item);
    }
  }
}
