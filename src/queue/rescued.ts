import type { Rescued } from './queries/rescue.js';
import type { QueueEvents } from './queue-events.js';
import type { RequestError } from './request-errors.js';

/** A request whose nodes or workers were lost this often is not retried: it may be what kills them. */
export const lostLimit = 2;

/** `failure`: the error of the requests that are not retried. */
export function publishRescued(
  events: QueueEvents,
  requests: readonly Rescued[],
  failure: RequestError,
): void {
  if (requests.length === 0) return;
  const lost = failure.code === 'worker_lost' ? 'worker' : 'node';
  const requeued = requests.filter(({ outcome }) => outcome === null);
  events.publish({
    added: requeued,
    work: [...new Set(requeued.map(({ modelId }) => modelId))],
    changed: requests.map(({ id }) => id),
  });
  events.emit('request.requeued', () =>
    requeued.map(({ id, modelId, lostAttempt: attempt }) => ({
      ...({ id, modelId, attempt, reason: 'lost', lost, delayMs: 0 } as const),
    })),
  );
  events.emit('request.completed', () =>
    requests.flatMap(({ id, modelId, lostAttempt: attempt, outcome }) => {
      const failed = outcome === 'failed' && { failure };
      return outcome === null ? [] : { id, modelId, attempt, outcome, attemptOutcome: 'lost', ...failed };
    }),
  );
}
