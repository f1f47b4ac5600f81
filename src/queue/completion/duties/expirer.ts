import { Injectable } from '@nestjs/common';
import { Clock } from '../../../database/clock.js';
import { Database } from '../../../database/database.js';
import { WaitingIndex } from '../../waiting/waiting-index.js';
import { expire } from '../queries/expire.js';
import { QueueEvents } from '../../queue-events.js';
import { requestErrors } from '../../request-errors.js';
import { Duty } from '../../../tools/duty.js';

/** Completes requests that waited longer than allowed. */
@Injectable()
export class Expirer extends Duty {
  protected readonly intervalMs = 1_000;

  constructor(
    private readonly database: Database,
    private readonly index: WaitingIndex,
    private readonly events: QueueEvents,
    private readonly clock: Clock,
  ) {
    super();
  }

  async runOnce(): Promise<void> {
    if (this.index.isEmpty) return;
    for (;;) {
      const expired = await expire(this.database, requestErrors.expired(this.clock.now()));
      if (expired.length === 0) return;
      this.events.publishEnded('expired', expired);
    }
  }
}
