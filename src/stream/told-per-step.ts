/** 5,000 a second, in steps of 20 ms. */
const most = 100;
/** Streams go on telling on a process that is busy with other things. */
const least = 10;
/** A sixth of a core, in steps of 20 ms. */
const budgetMs = 20 / 6;
/** The cost of one is known from so many steps. */
const remembered = 16;

/** How many positions may be told in a step of a round, so that they take no more than their share of a core. */
export class ToldPerStep {
  /** Until it is measured, as many as may be. */
  private msEach = budgetMs / most;

  get most(): number {
    return Math.min(most, Math.max(least, Math.floor(budgetMs / this.msEach)));
  }

  /** So many were told, and the process did so for so long: most of that is writing to sockets, after the step. */
  took(ms: number, told: number): void {
    if (told > 0) this.msEach += (ms / told - this.msEach) / remembered;
  }
}
