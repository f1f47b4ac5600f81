import type { StatusRow } from '../queue/status-row.js';

/**
 * The states that lie between two reads of a request, oldest first, so that a stream tells of them all: a run of a few
 * milliseconds starts and ends between two reads. They carry the id of the last event before them: a reader that comes
 * back with it is sent what followed.
 */
export function stepsBetween(from: StatusRow, to: StatusRow): StatusRow[] {
  const steps: StatusRow[] = [];
  let { state, attempt } = from;
  while (attempt < to.attempt) {
    const waited = state === 'IN_QUEUE';
    state = waited ? 'IN_PROGRESS' : 'IN_QUEUE';
    if (waited) attempt++;
    if (attempt === to.attempt && state === to.state) break;
    steps.push({
      ...to,
      state,
      attempt,
      outcome: null,
      error: null,
      completedAtMs: null,
      lastEventId: from.lastEventId,
    });
  }
  return steps;
}
