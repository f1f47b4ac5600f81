/** The longest time of a timer. A timer with a longer one fires at once. */
export const maxTimerMs = 2 ** 31 - 1;

/** Aborts when `outer` does, or when the time set by `start` is over. */
export class Deadline {
  isOver = false;
  private readonly controller = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly outer?: AbortSignal) {
    if (outer?.aborted === true) this.controller.abort();
    else outer?.addEventListener('abort', this.abort);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Restarts the time. An earlier deadline no longer counts. */
  start(ms: number): void {
    this.pause();
    this.timer = setTimeout(
      () => {
        this.isOver = true;
        this.abort();
      },
      Math.min(ms, maxTimerMs),
    );
  }

  pause(): void {
    clearTimeout(this.timer);
  }

  /** Also aborts the calls that still use its signal. */
  end(): void {
    this.pause();
    this.outer?.removeEventListener('abort', this.abort);
    this.abort();
  }

  private readonly abort = (): void => this.controller.abort();
}

/** Resolves after `ms`, or as soon as `signal` fires. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, maxTimerMs));
    signal?.addEventListener('abort', done);
  });
}
