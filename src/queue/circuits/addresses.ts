import type { Probe } from './circuit.js';
import type { Target } from './target.js';

/** The address that a run is sent to. `probe`: the run is the probe of that address. */
export interface Destination {
  /** undefined: the run stays in this process. */
  readonly target: Target | undefined;
  readonly probe?: Probe | undefined;
  /** True: the run is that of a suspect, so no other run of this node is at the address. */
  readonly isSuspect?: boolean;
}

/** A model whose suspects may run at an address, which is written as the database has it. */
export interface SuspectPlace {
  readonly address: string;
  readonly modelId: string;
}

/**
 * Returns addresses as they are shown: only their origins, because path, query and user may hold secrets. A number
 * distinguishes addresses of the same origin.
 */
export function addressLabels(urls: readonly string[]): string[] {
  const origins = urls.map((url) => new URL(url).origin);
  return origins.map((origin, at) =>
    origins.indexOf(origin) === origins.lastIndexOf(origin) ? origin : `${origin} (${at + 1})`,
  );
}

/** The addresses of one model. */
export class Addresses {
  /** The addresses as they are shown. */
  readonly labels: readonly string[];
  private turn = 0;

  constructor(
    readonly targets: readonly Target[],
    readonly hasCircuits: boolean,
  ) {
    this.labels = addressLabels(targets.map(({ url }) => url));
  }

  /**
   * The number of runs that may start now: any number while one address is reachable, else one probe for each due
   * address.
   */
  get room(): number {
    return this.targets.reduce((sum, target) => {
      if (target.isQuarantined) return sum;
      return sum + (this.hasCircuits ? target.room : Infinity);
    }, 0);
  }

  /** Addresses to which the next run would be a probe. */
  get due(): readonly Target[] {
    if (!this.hasCircuits) return [];
    return this.targets.filter(({ isAway, isQuarantined, room }) => isAway && !isQuarantined && room > 0);
  }

  /** True if all addresses are away: each receives only probes. */
  get areAway(): boolean {
    return this.hasCircuits && this.targets.every(({ isAway }) => isAway);
  }

  /** True if other nodes may have this node's slots. */
  get yieldSlots(): boolean {
    return this.areAway && this.targets.every(({ circuit }) => circuit.yieldsSlots);
  }

  /** Returns the address with the fewest runs; of several, the next in turn. undefined: none takes a run now. */
  next(): Target | undefined {
    const { length } = this.targets;
    let found: number | undefined;
    for (let step = 0; step < length; step++) {
      const at = (this.turn + step) % length;
      const target = this.targets[at]!;
      if (target.isQuarantined || (this.hasCircuits && target.isAway)) continue;
      if (found === undefined || target.running < this.targets[found]!.running) found = at;
    }
    if (found === undefined) return undefined;
    this.turn = found + 1;
    return this.targets[found];
  }
}
