import type { Model } from '../../models/model.js';
import type { ClaimFloor } from './queries/claim.js';
import { ClaimPump } from './claim-pump.js';

const claimLimit = 512;

/** The dispatcher's claims and state for one model. */
export class ModelDispatcher extends ClaimPump {
  hasMore = false;
  maxItems = claimLimit;
  /** The last key that was started here. While the queue is empty, later requests are placed behind it. */
  lastStarted: ClaimFloor | undefined;

  constructor(
    public model: Model,
    fill: () => Promise<void>,
    onEnd: () => void,
  ) {
    super(model.id, fill, onEnd);
  }

  /** `brought`: how many of the requested runs the claim started; undefined: it failed. */
  noteClaim(limit: number, brought: number | undefined): void {
    this.hasMore = brought === limit;
    // Too many large inputs may take longer than the timeout of a statement.
    this.maxItems = brought === undefined ? Math.ceil(limit / 2) : Math.min(claimLimit, this.maxItems * 2);
  }
}
