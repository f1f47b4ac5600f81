interface CoalescedOptions {
  /** Awaited before each run. Requests in this time are served by that run. */
  gather?: () => Promise<unknown>;
  /** Called when the last run has ended. */
  onEnd?: () => void;
}

/**
 * Does work on request, one run at a time. All requests during a run are served by one more run after it, because the
 * run in progress may have missed their causes.
 */
export class Coalesced {
  isRunning = false;
  /** Resolves once no run is in progress. */
  ended: Promise<void> = Promise.resolve();
  private isAsked = false;

  /** `work` must not reject. */
  constructor(
    private readonly work: () => Promise<unknown>,
    private readonly options: CoalescedOptions = {},
  ) {}

  /** Resolves once a run that began after the call has ended, and all runs that were requested meanwhile. */
  run(): Promise<void> {
    this.isAsked = true;
    if (!this.isRunning) {
      this.isRunning = true;
      this.ended = this.runAll();
    }
    return this.ended;
  }

  private async runAll(): Promise<void> {
    const { gather, onEnd } = this.options;
    try {
      while (this.isAsked) {
        if (gather !== undefined) await gather();
        this.isAsked = false;
        await this.work();
      }
    } finally {
      // In the same turn as the last check of `isAsked`. A request between the two would be lost.
      this.isRunning = false;
      onEnd?.();
    }
  }
}
