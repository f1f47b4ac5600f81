import { setImmediate as nextTurn } from 'node:timers/promises';

const maxSliceMs = 10;

/** Divides long work in the event loop into slices, between which other calls get a turn. */
export class Slices {
  private since = performance.now();

  get isOver(): boolean {
    return performance.now() - this.since >= maxSliceMs;
  }

  /** Begins the next slice after the turns of other calls. */
  async next(): Promise<void> {
    await nextTurn();
    this.since = performance.now();
  }
}
