const mostPerSecond = 5_000;
/** Streams go on telling, whatever it costs. */
const leastPerSecond = 500;
/** Of a core. */
const share = 1 / 6;
/** What one costs is known from about so many steps. */
const remembered = 16;

/** How many positions may be told in a step of a round, so that they take no more than their share of a core. */
export class ToldPerStep {
  private ms = 0;
  private told = 0;

  constructor(private readonly stepMs: number) {}

  get most(): number {
    const seconds = this.stepMs / 1_000;
    // Until it is measured, as many as may be.
    const affordable = this.told === 0 ? Infinity : Math.floor((share * this.stepMs * this.told) / this.ms);
    return Math.min(mostPerSecond * seconds, Math.max(leastPerSecond * seconds, affordable));
  }

  /** So many were told, and it took so long. */
  took(ms: number, told: number): void {
    if (told === 0) return;
    this.ms += ms - this.ms / remembered;
    this.told += told - this.told / remembered;
  }
}
