/** Milliseconds. */
export interface CircuitTimes {
  /** From the opening to the first probe; each that fails doubles it… */
  probeMs: number;
  /** …up to this. */
  maxProbeMs: number;
  /** A node that gave its slots to others takes its share again after this, to probe for itself. */
  shareMs: number;
}

/** Which run a probe is: what comes of another one says nothing of the model as it is now. */
export type Probe = symbol;

interface Outage {
  /** By the circuit's clock. */
  since: number;
  reason: string;
}

/** Whether a node sends runs to an address: all of them while it is closed, a probe at a time while it is open. */
export class Circuit {
  /** undefined: it is closed. */
  outage: Outage | undefined;
  /** Whether other nodes may have this one's slots. */
  yieldsSlots = false;
  private probe: Probe | undefined;
  private delayMs = 0;
  private failedAt = 0;
  private probeAt = 0;
  private shareAt = 0;

  constructor(
    private readonly times: CircuitTimes,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** How many runs may start now. */
  get room(): number {
    if (this.outage === undefined) return Infinity;
    return this.probe === undefined && this.now() >= this.probeAt ? 1 : 0;
  }

  get isProbing(): boolean {
    return this.probe !== undefined;
  }

  /** Until a probe is due, or the slots are to be asked back. undefined: neither is to come. */
  get nextInMs(): number | undefined {
    if (this.outage === undefined) return undefined;
    const now = this.now();
    const next = Math.min(...[this.probeAt, this.shareAt].filter((at) => at > now));
    return next === Infinity ? undefined : next - now;
  }

  /** undefined: it is closed, and a run needs no leave. */
  startProbe(): Probe | undefined {
    return this.outage === undefined ? undefined : (this.probe = Symbol('probe'));
  }

  /** Nothing came of the probe: another may start. True: it was the one going on. */
  release(probe: Probe): boolean {
    if (this.probe !== probe) return false;
    this.probe = undefined;
    return true;
  }

  /** True: it was closed. A run of before the opening that fails after it says nothing new. */
  fail(reason: string, retryAfterMs = 0, probe?: Probe): boolean {
    const { outage } = this;
    if (outage !== undefined && !(probe !== undefined && this.release(probe))) return false;
    const now = this.now();
    const { probeMs, maxProbeMs, shareMs } = this.times;
    this.outage = { since: outage?.since ?? now, reason };
    this.delayMs = outage === undefined ? probeMs : Math.min(maxProbeMs, this.delayMs * 2);
    this.failedAt = now;
    this.probeAt = now + Math.max(this.delayMs, retryAfterMs);
    this.shareAt = now + shareMs;
    this.yieldsSlots = true;
    return outage === undefined;
  }

  /** The model is there. What the outage was; undefined: nothing has changed. */
  close(probe: Probe): Outage | undefined {
    if (!this.release(probe)) return undefined;
    const { outage } = this;
    this.outage = undefined;
    this.yieldsSlots = false;
    return outage;
  }

  /** Another node has found the model: a probe is due, but not more often than five in the longest wait. False: none is. */
  hint(): boolean {
    if (this.outage === undefined || this.probe !== undefined) return false;
    this.probeAt = Math.min(this.probeAt, Math.max(this.now(), this.failedAt + this.times.maxProbeMs / 5));
    this.shareAt = Math.min(this.shareAt, this.probeAt);
    return true;
  }

  /** At its time the node's share of the slots is asked back, if others have the model and so would keep them. */
  askForShare(othersHaveIt: boolean): void {
    const now = this.now();
    if (!this.yieldsSlots || now < this.shareAt) return;
    if (othersHaveIt) this.yieldsSlots = false;
    else this.shareAt = now + this.times.shareMs;
  }
}
