import { Turns } from './turns.js';

/** Runs at most `max` pieces of work at a time. Callers of the others take turns. */
export class AtATime {
  private running = 0;
  private readonly turns = new Turns<() => void>();

  constructor(private readonly max: number) {}

  /** The number of pieces that wait for a turn. */
  get waiting(): number {
    return this.turns.size;
  }

  async run<Result>(caller: string, work: () => Promise<Result>): Promise<Result> {
    if (this.running >= this.max) await new Promise<void>((resolve) => this.turns.add(caller, resolve));
    else this.running++;
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      // The time counts only while others wait for a turn.
      if (this.turns.size > 0) this.turns.charge(caller, performance.now() - startedAt);
      const next = this.turns.next(() => false);
      if (next === undefined) this.running--;
      // Runs in its own turn of the event loop, so that other calls can come between.
      else setImmediate(next.item);
    }
  }
}
