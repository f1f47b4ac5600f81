import type { StatusRow } from '../queue/status-row.js';

/**
 * The states that lie between two reads of a request, oldest first, so that a stream shows them all: a run of a few
 * milliseconds starts and ends between two reads. Every change of state has an event of its own, so the ids count back
 * from the newest: none steps over an event that a reader who comes back with it has not been shown.
 */
export function stepsBetween(from: StatusRow, to: StatusRow): StatusRow[] {
  const steps: StatusRow[] = [];
  let { state, attempt } = from;
  while (attempt < to.attempt) {
    const waited = state === 'IN_QUEUE';
    state = waited ? 'IN_PROGRESS' : 'IN_QUEUE';
    if (waited) attempt++;
    if (attempt === to.attempt && state === to.state) break;
    steps.push({ ...to, state, attempt, outcome: null, error: null, completedAtMs: null });
  }
  return steps.map((step, index) => ({ ...step, lastEventId: to.lastEventId - (steps.length - index) }));
}
