import { constants } from 'node:os';

/**
 * npm passes a Ctrl-C on that the terminal has sent to all: the same one, twice. Measured, the second comes up to 7 ms
 * later, also on a busy machine; a person takes longer for another.
 */
const echoMs = 100;

/** The signals that ask this process to end: the first begins an orderly end, those after it hurry it. */
class StopSignals {
  private since: number | undefined;

  constructor(
    private readonly begin: () => void,
    private readonly hurry: (signal: NodeJS.Signals) => void,
  ) {}

  get wasReceived(): boolean {
    return this.since !== undefined;
  }

  receive(signal: NodeJS.Signals): void {
    if (this.since === undefined) {
      this.since = performance.now();
      this.begin();
    } else if (performance.now() - this.since > echoMs) this.hurry(signal);
  }
}

export function onStopSignals(
  ...callbacks: ConstructorParameters<typeof StopSignals>
): Pick<StopSignals, 'receive' | 'wasReceived'> {
  const signals = new StopSignals(...callbacks);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => signals.receive(signal));
  return signals;
}

/** Ends this process as the signal would have without a listener. */
export function exitNow(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}
