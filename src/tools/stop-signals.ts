import { constants } from 'node:os';

/**
 * The terminal sends a Ctrl-C to all processes, and npm forwards it, so it arrives twice. Measured, the second comes up
 * to 7 ms later, even on a busy machine. A person takes longer to press it again.
 */
const echoMs = 100;

/** Signals that ask this process to end. The first begins an orderly stop, and later ones speed it up. */
class StopSignals {
  private since: number | undefined;

  constructor(
    private readonly begin: (signal: NodeJS.Signals) => void,
    private readonly hurry: (signal: NodeJS.Signals) => void,
  ) {}

  get wasReceived(): boolean {
    return this.since !== undefined;
  }

  receive(signal: NodeJS.Signals): void {
    if (this.since === undefined) {
      this.since = performance.now();
      this.begin(signal);
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

/** Exits with the code that a shell reports for a process ended by the signal. */
export function exitNow(signal: NodeJS.Signals): never {
  process.exit(128 + constants.signals[signal]);
}

/**
 * Exits without the code of Node 20 that resets the terminal. If the terminal is gone, that fails and hangs forever. Runs
 * before the other listeners, because that of the log throws when it cannot write.
 */
export function exitWithoutTerminal(): void {
  process.prependOnceListener('exit', () => void process.kill(process.pid, 'SIGKILL'));
}
