const firstWindowMs = 1_000;
const maxWindowMs = 64_000;

/** Pauses with full jitter over a window that doubles with each failure in a row. */
export class Backoff {
  private windowMs = firstWindowMs;

  constructor(
    private readonly maxMs = maxWindowMs,
    private readonly random: () => number = Math.random,
  ) {}

  /** Failures in a row, as far as the window shows them. */
  get failures(): number {
    return Math.log2(this.windowMs / firstWindowMs);
  }

  /** Milliseconds until the next try; never before the service allows it. */
  next(retryAfterS?: number): number {
    const ms = this.random() * this.windowMs;
    this.windowMs = Math.min(this.windowMs * 2, this.maxMs);
    return retryAfterS === undefined ? ms : retryAfterS * 1_000 + this.random() * firstWindowMs;
  }

  reset(): void {
    this.windowMs = firstWindowMs;
  }
}
