/** All times are in milliseconds. */
export interface CircuitTimes {
  /** The wait from the opening to the first probe. Each failed probe doubles it. */
  probeMs: number;
  /** The longest wait for a probe. */
  maxProbeMs: number;
  /** A node that gave its slots to others asks for its share again after this time, to probe for itself. */
  shareMs: number;
}

/** Identifies the run of a probe. The end of any other run shows nothing about the model as it is now. */
export type Probe = symbol;

interface Outage {
  /** In milliseconds of the circuit's clock. */
  since: number;
  reason: string;
}

/**
 * Decides which runs a node sends to an address: all of them while it is closed, one probe at a time while it is open.
 */
export class Circuit {
  /** undefined: the circuit is closed. */
  outage: Outage | undefined;
  /** True if other nodes may have this node's slots. */
  yieldsSlots = false;
  /** True: it is open because nothing is known of the address yet. */
  isUnknown = false;
  /** True: it is open, and the last failure shows that its model was not reached. */
  isUnreached = false;
  private probe: Probe | undefined;
  private delayMs = 0;
  private failedAt = 0;
  private probeAt = 0;
  private shareAt = 0;

  constructor(
    private readonly times: CircuitTimes,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** The number of runs that may start now. */
  get room(): number {
    if (this.outage === undefined) return Infinity;
    return this.probe === undefined && this.now() >= this.probeAt ? 1 : 0;
  }

  get isProbing(): boolean {
    return this.probe !== undefined;
  }

  /** Milliseconds until a probe is due or the node asks for its slots again. undefined: neither is pending. */
  get nextInMs(): number | undefined {
    if (this.outage === undefined) return undefined;
    const now = this.now();
    const next = Math.min(...[this.probeAt, this.shareAt].filter((at) => at > now));
    return next === Infinity ? undefined : next - now;
  }

  /** Milliseconds until a probe is due. undefined: the circuit is closed or probes. */
  get probeInMs(): number | undefined {
    if (this.outage === undefined || this.probe !== undefined) return undefined;
    return Math.max(0, this.probeAt - this.now());
  }

  /** Opens the circuit of an address of which nothing is known. A probe is due at once. */
  openUnknown(reason: string): void {
    const now = this.now();
    this.outage = { since: now, reason };
    this.isUnknown = true;
    this.delayMs = this.times.probeMs / 2;
    this.shareAt = now + this.times.shareMs;
  }

  /** undefined: the circuit is closed, and a run needs no permission. */
  startProbe(): Probe | undefined {
    return this.outage === undefined ? undefined : (this.probe = Symbol('probe'));
  }

  /** Ends the probe, so that another may start. True: it was the current probe. */
  release(probe: Probe): boolean {
    if (this.probe !== probe) return false;
    this.probe = undefined;
    return true;
  }

  /**
   * Opens the circuit, or extends its outage after a failed probe. True: it was closed. A run that started before the
   * opening and fails after it changes nothing.
   */
  fail(reason: string, retryAfterMs = 0, probe?: Probe, isUnreached = false): boolean {
    const { outage } = this;
    if (outage !== undefined && !(probe !== undefined && this.release(probe))) return false;
    const now = this.now();
    const { probeMs, maxProbeMs, shareMs } = this.times;
    this.outage = { since: outage?.since ?? now, reason };
    this.isUnknown = false;
    this.isUnreached = isUnreached;
    this.delayMs = outage === undefined ? probeMs : Math.min(maxProbeMs, this.delayMs * 2);
    this.failedAt = now;
    this.probeAt = now + Math.max(this.delayMs, retryAfterMs);
    this.shareAt = now + shareMs;
    this.yieldsSlots = true;
    return outage === undefined;
  }

  /**
   * Closes the circuit because the probe found the model. Returns the outage that is over; undefined: nothing has
   * changed.
   */
  close(probe: Probe): Outage | undefined {
    if (!this.release(probe)) return undefined;
    const { outage } = this;
    this.forget();
    return outage;
  }

  /** Closes the circuit, whatever is known of the address. */
  forget(): void {
    this.outage = undefined;
    this.probe = undefined;
    this.isUnknown = false;
    this.isUnreached = false;
    this.yieldsSlots = false;
  }

  /**
   * Makes a probe due because another node has found the model, but at most five in the longest wait. False: the
   * circuit is closed or already probes.
   */
  hint(): boolean {
    if (this.outage === undefined || this.probe !== undefined) return false;
    this.probeAt = Math.min(this.probeAt, Math.max(this.now(), this.failedAt + this.times.maxProbeMs / 5));
    this.shareAt = Math.min(this.shareAt, this.probeAt);
    return true;
  }

  /** Makes a probe due at once. False: the circuit is closed or already probes. */
  probeNow(): boolean {
    if (this.outage === undefined || this.probe !== undefined) return false;
    this.probeAt = this.now();
    this.shareAt = Math.min(this.shareAt, this.probeAt);
    return true;
  }

  /**
   * Asks for the node's share of the slots again once its time has come, if others reach the model: they would keep
   * the slots.
   */
  askForShare(othersHaveIt: boolean): void {
    const now = this.now();
    if (!this.yieldsSlots || now < this.shareAt) return;
    if (othersHaveIt) this.yieldsSlots = false;
    else this.shareAt = now + this.times.shareMs;
  }
}
