/** 5,000 a second, in steps of 20 ms. */
const most = 100;
/** Streams go on telling, whatever it costs. */
const least = 10;
/** A sixth of a core, in steps of 20 ms. */
const budgetMs = 20 / 6;
/** What one costs is known from about so many steps. */
const remembered = 16;

/** How many positions may be told in a step of a round, so that they take no more than their share of a core. */
export class ToldPerStep {
  private ms = 0;
  private told = 0;

  get most(): number {
    // Until it is measured, as many as may be.
    if (this.told === 0) return most;
    return Math.min(most, Math.max(least, Math.floor((budgetMs * this.told) / this.ms)));
  }

  /** So many were told, and it took so long. */
  took(ms: number, told: number): void {
    if (told === 0) return;
    this.ms += ms - this.ms / remembered;
    this.told += told - this.told / remembered;
  }
}
