const firstWindowMs = 1_000;
const maxWindowMs = 64_000;
/** A call that breaks sooner was not held. */
const heldMs = 1_000;

/** Pauses with full jitter over a window that doubles with each failure in a row. */
export class Backoff {
  private windowMs = firstWindowMs;

  constructor(
    private readonly maxMs = maxWindowMs,
    private readonly random: () => number = Math.random,
  ) {}

  /** Returns whether a call has failed since the last success. */
  get hasFailed(): boolean {
    return this.windowMs > firstWindowMs;
  }

  /** Returns the milliseconds until the next try; never less than the service demands. */
  next(retryAfterS?: number): number {
    const ms = this.random() * this.windowMs;
    this.windowMs = Math.min(this.windowMs * 2, this.maxMs);
    return retryAfterS === undefined ? ms : retryAfterS * 1_000 + this.random() * firstWindowMs;
  }

  reset(): void {
    this.windowMs = firstWindowMs;
  }
}

/** For how many seconds calls are held. A proxy may cut connections that are silent for long. */
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
