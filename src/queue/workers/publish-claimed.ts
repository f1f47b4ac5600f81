import type { ClaimedRun } from '../queries/claim-for-workers.js';
import { entriesOf } from '../queries/claim.js';
import type { QueueEvents } from '../queue-events.js';

/** Publishes what workers have claimed of a model, once it is committed. */
export function publishClaimed(events: QueueEvents, modelId: string, claimed: readonly ClaimedRun[]): void {
  if (claimed.length === 0) return;
  events.publish({ started: entriesOf(modelId, claimed), changed: claimed.map(({ id }) => id) });
  events.emit('request.started', () =>
    claimed.map(({ id, attempt, failedAttempts, lostAttempts, queueMs }) => ({
      ...{ id, modelId, attempt: failedAttempts + lostAttempts + 1 },
      queueMs: attempt === 1 ? queueMs : undefined,
    })),
  );
}
