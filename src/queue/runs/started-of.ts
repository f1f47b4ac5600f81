import type { Destination } from '../circuits/addresses.js';
import type { Claimed } from '../queries/claim.js';
import type { StartedRequest } from '../request-events.js';

/** Returns what is published of started requests: those with a destination. */
export function startedOf(
  modelId: string,
  claimed: readonly Claimed[],
  destinations: readonly (Destination | undefined)[],
): StartedRequest[] {
  return claimed.flatMap(({ id, attempt, failedAttempts, lostAttempts, queueMs }, at) => {
    const destination = destinations[at];
    if (destination === undefined) return [];
    return {
      id,
      modelId,
      attempt: failedAttempts + lostAttempts + 1,
      queueMs: attempt === 1 ? queueMs : undefined,
      ...(destination.probe !== undefined && { isProbe: true }),
    };
  });
}
