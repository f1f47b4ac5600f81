const firstMs = 5_000;
const longestMs = 300_000;

interface Rest {
  /** How many times in a row a result could not be stored. */
  times: number;
  until: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Models whose results this node could neither store nor keep in memory. It starts no run of them for a while, twice
 * as long each time, because each such run is work that must be done again.
 */
export class UnstoredRests {
  private readonly rests = new Map<string, Rest>();

  /** `onEnd`: called when a model may run again. */
  constructor(private readonly onEnd: (modelId: string) => void) {}

  isResting(modelId: string): boolean {
    const rest = this.rests.get(modelId);
    return rest !== undefined && performance.now() < rest.until;
  }

  /**
   * Starts a rest, and returns the milliseconds that are left of it. Runs that were in progress at the same time
   * count once.
   */
  begin(modelId: string): number {
    const rest = this.rests.get(modelId) ?? { times: 0, until: -Infinity, timer: undefined };
    const now = performance.now();
    if (now >= rest.until) {
      rest.times++;
      const ms = Math.min(firstMs * 2 ** (rest.times - 1), longestMs) * (0.8 + Math.random() * 0.4);
      rest.until = now + ms;
      clearTimeout(rest.timer);
      rest.timer = setTimeout(() => this.onEnd(modelId), ms + 1).unref();
      this.rests.set(modelId, rest);
    }
    return rest.until - now;
  }

  /** Ends the rest, because a result was stored. */
  end(modelId: string): void {
    const rest = this.rests.get(modelId);
    if (rest === undefined) return;
    clearTimeout(rest.timer);
    this.rests.delete(modelId);
    if (performance.now() < rest.until) this.onEnd(modelId);
  }
}
