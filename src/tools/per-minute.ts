const minuteMs = 60_000;

interface Limits {
  /** Of one subject. */
  each: number;
  /** Of all subjects: what is remembered is no more. */
  all: number;
}

/** Counts what happens in each minute, by subjects. */
export class PerMinute {
  private minute = -Infinity;
  private readonly counts = new Map<string, number>();
  private counted = 0;

  constructor(private readonly limits: Limits) {}

  /** Counts one more, unless it is one too many in this minute. */
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
