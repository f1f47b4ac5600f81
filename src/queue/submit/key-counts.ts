import { setTimeout as delay } from 'node:timers/promises';

/** The next count waits this many times as long as the last one took: keys at their bounds keep no processor busy. */
const restPerCount = 4;
/** The longest such pause. Submissions wait meanwhile. */
const maxRestMs = 1_000;

/** Counts the waiting requests of keys, in turns: all keys that want a count share the next one. */
export class KeyCounts {
  private next: Promise<ReadonlyMap<string, number>> | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private restsUntil = -Infinity;
  private readonly onBegins: (() => void)[] = [];

  constructor(private readonly countAll: () => Promise<ReadonlyMap<string, number>>) {}

  /** Resolves to the number by a count that begins after the call. `onBegin` is called right before. */
  async of(keyId: string, onBegin: () => void): Promise<number> {
    this.onBegins.push(onBegin);
    this.next ??= this.takeTurn();
    return (await this.next).get(keyId) ?? 0;
  }

  private async takeTurn(): Promise<ReadonlyMap<string, number>> {
    await this.last;
    const restMs = this.restsUntil - performance.now();
    if (restMs > 0) await delay(restMs);
    this.next = undefined;
    const counted = this.count();
    this.last = counted.catch(() => undefined);
    return counted;
  }

  private async count(): Promise<ReadonlyMap<string, number>> {
    for (const onBegin of this.onBegins.splice(0)) onBegin();
    const from = performance.now();
    try {
      return await this.countAll();
    } finally {
      const now = performance.now();
      this.restsUntil = now + Math.min(maxRestMs, (now - from) * restPerCount);
    }
  }
}
