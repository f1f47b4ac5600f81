import { Logger } from '@nestjs/common';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { Coalesced } from '../../tools/coalesced.js';
import type { ClaimFloor } from './queries/claim.js';

/** A claim that takes longer to reach the database claims nothing there. */
export const claimPatienceMs = 5_000;
/** At least this often a claim looks from the very front: a submission on another node may not be known here yet. */
const floorMs = 1_000;
/** A model at its bound is claimed again after this time, so the end of a run is noticed at most this late. */
const fullMs = 50;

/**
 * The claims of one model, one statement at a time, for the slots of this node or for the workers that wait here. It
 * claims again if it was woken meanwhile.
 */
export class ClaimPump extends Coalesced {
  private floorlessAt = -Infinity;
  private fullUntil: number | undefined;

  constructor(modelId: string, claim: () => Promise<void>, onEnd = (): void => undefined) {
    const log = new Logger(ClaimPump.name);
    const work = (): Promise<void> =>
      claim().catch((error: Error) => {
        log.error(`the claims of ${modelId} broke: ${error.stack ?? error.message}`);
      });
    super(work, { gather: () => this.gather(), onEnd });
  }

  /** True: the next claim starts at the very front. */
  get isFloorless(): boolean {
    return performance.now() - this.floorlessAt > floorMs;
  }

  /** Returns the floor of the next claim. Once a second, it is null whatever this node knows. */
  floorAt(key: ClaimFloor | undefined): ClaimFloor | null {
    if (!this.isFloorless) return key ?? null;
    this.floorlessAt = performance.now();
    return null;
  }

  /** Drops the floor, because a request that this node does not know of may wait before it. */
  invalidateFloor(): void {
    this.floorlessAt = -Infinity;
  }

  /** Notes that the model is at its bound: the next claim waits for a moment. */
  noteFull(): void {
    this.fullUntil = performance.now() + fullMs;
  }

  private async gather(): Promise<void> {
    // Ends of runs, and submissions, that share a commit come in one turn of the event loop: one claim serves them all.
    await nextTurn();
    if (this.fullUntil === undefined) return;
    const leftMs = Math.max(0, this.fullUntil - performance.now());
    this.fullUntil = undefined;
    await delay(leftMs, undefined, { ref: false });
  }
}
