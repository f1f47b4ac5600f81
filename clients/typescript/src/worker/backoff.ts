const firstWindowMs = 1_000;
const maxWindowMs = 64_000;
/** What breaks sooner was not held. */
const heldMs = 1_000;

/** Pauses with full jitter over a window that doubles with each failure in a row. */
export class Backoff {
  private windowMs = firstWindowMs;

  constructor(
    private readonly maxMs = maxWindowMs,
    private readonly random: () => number = Math.random,
  ) {}

  /** Since the last success. */
  get hasFailed(): boolean {
    return this.windowMs > firstWindowMs;
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

/** For how long calls are held: something on the way may cut those that are silent for long. */
export class Hold {
  seconds: number;

  constructor(private readonly maxSeconds: number) {
    this.seconds = maxSeconds;
  }

  answered(): void {
    this.seconds = Math.min(this.seconds + 1, this.maxSeconds);
  }

  broken(afterMs: number): void {
    if (afterMs >= heldMs) this.seconds = Math.max(1, Math.floor(this.seconds / 2));
  }
}
