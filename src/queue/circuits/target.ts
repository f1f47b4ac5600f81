import type { HealthCheck } from '../../models/runner-kind.js';
import { Circuit, type CircuitTimes } from './circuit.js';

/** Returns an address without its user, password and query, which may be secrets. */
export function plainAddress(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

/** One address that runs are sent to, and the models behind it. */
export class Target {
  /** The models whose runs open the circuit of this address. */
  models: string[] = [];
  /** Runs of this node at this address. */
  running = 0;
  /** Those of them that are suspects, each of which runs there without others. */
  suspects = 0;
  /** True: nothing but suspects is sent there. */
  isQuarantined = false;
  /** The part of the URL that may be shown: path, query and user may hold secrets. */
  readonly origin: string;
  /** The address as the database has it. */
  readonly address: string;
  readonly circuit: Circuit;
  timer: NodeJS.Timeout | undefined;
  reminder: NodeJS.Timeout | undefined;

  constructor(
    readonly url: string,
    times: CircuitTimes,
    /** The check that takes the place of a probe by a run; undefined: there is none. */
    readonly health?: HealthCheck,
  ) {
    ({ origin: this.origin } = new URL(url));
    this.address = plainAddress(url);
    if (health === undefined) {
      this.circuit = new Circuit(times);
      return;
    }
    const { everyMs } = health;
    const { probeMs, shareMs } = times;
    this.circuit = new Circuit({ probeMs: Math.min(probeMs, everyMs), maxProbeMs: everyMs, shareMs });
    this.circuit.openUnknown('Its health has not been checked yet.');
  }

  /** The number of runs that may be sent there now, as far as its circuit allows. */
  get room(): number {
    return this.health !== undefined && this.isAway ? 0 : this.circuit.room;
  }

  get isAway(): boolean {
    return this.circuit.outage !== undefined;
  }

  toString(): string {
    return `${this.models.join(', ')} at ${this.origin}`;
  }
}
