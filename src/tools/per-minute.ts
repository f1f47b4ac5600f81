const minuteMs = 60_000;

interface Limits {
  /** Limit for one subject. */
  each: number;
  /** Limit for all subjects together, which also bounds the memory. */
  all: number;
}

/** Counts events per minute and subject. */
export class PerMinute {
  private minute = -Infinity;
  private readonly counts = new Map<string, number>();
  private counted = 0;

  constructor(private readonly limits: Limits) {}

  /** Counts one more event and returns true, unless a limit of this minute is reached. */
  takes(subject: string, now = performance.now()): boolean {
    const minute = Math.floor(now / minuteMs);
    if (minute !== this.minute) {
      this.minute = minute;
      this.counts.clear();
      this.counted = 0;
    }
    const count = this.counts.get(subject) ?? 0;
    if (count >= this.limits.each || this.counted >= this.limits.all) return false;
    this.counts.set(subject, count + 1);
    this.counted++;
    return true;
  }
}
