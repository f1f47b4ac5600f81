const maxPerSecond = 5_000;
/** Streams get so many, whatever they cost. */
const minPerSecond = 500;
/** Of a core. */
const share = 1 / 6;
/** What one costs is known from about so many steps. */
const remembered = 16;

/** How many positions may be sent in a step of a round, so that they take no more than their share of a core. */
export class UpdateBudget {
  private ms = 0;
  private updates = 0;

  constructor(private readonly stepMs: number) {}

  get max(): number {
    const seconds = this.stepMs / 1_000;
    // Until it is measured, as many as may be.
    const affordable =
      this.updates === 0 ? Infinity : Math.floor((share * this.stepMs * this.updates) / this.ms);
    return Math.min(maxPerSecond * seconds, Math.max(minPerSecond * seconds, affordable));
  }

  /** So many were sent, and it took so long. */
  took(ms: number, updates: number): void {
    if (updates === 0) return;
    this.ms += ms - this.ms / remembered;
    this.updates += updates - this.updates / remembered;
  }
}
