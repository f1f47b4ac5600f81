import { Circuit, type CircuitTimes } from './circuit.js';

/** One address that runs are sent to, and the models behind it. */
export class Target {
  /** The models whose runs open the circuit of this address. */
  models: string[] = [];
  /** Runs of this node at this address. */
  running = 0;
  /** The part of the URL that may be shown: path, query and user may hold secrets. */
  readonly origin: string;
  readonly circuit: Circuit;
  timer: NodeJS.Timeout | undefined;
  reminder: NodeJS.Timeout | undefined;

  constructor(
    readonly url: string,
    times: CircuitTimes,
  ) {
    ({ origin: this.origin } = new URL(url));
    this.circuit = new Circuit(times);
  }

  get isAway(): boolean {
    return this.circuit.outage !== undefined;
  }

  toString(): string {
    return `${this.models.join(', ')} at ${this.origin}`;
  }
}
