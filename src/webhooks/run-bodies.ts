import type { RequestRow } from '../queue/reads/status-row.js';
import { attemptOf, toMetrics, toQueuedRequest } from '../requests/status-view.js';
import type { ProgressEventDto, StartedEventDto } from './dto/events.dto.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';

/** The members about the request in the body of every event of its run. */
function aboutRun(row: ClaimedDelivery, base: string) {
  const { at, attempt } = contentOf(row);
  return {
    timestamp: at,
    request_id: row.id,
    model_id: row.modelId,
    attempt,
    tags: row.tags ?? [],
    status_url: toQueuedRequest(base, row.id).status_url,
  };
}

/** Returns the body of `request.started`. A later webhook reports what has happened to the request since. */
export function startedBody(row: ClaimedDelivery, base: string): string {
  const { queue_time = 0 } = toMetrics({ ...row, state: 'IN_PROGRESS' });
  const metrics = { queue_time };
  const body: StartedEventDto = { type: 'request.started', ...aboutRun(row, base), metrics };
  return JSON.stringify(body);
}

/** Returns the body of `request.progress`. */
export function progressBody(row: ClaimedDelivery, base: string): string {
  const { progress } = contentOf(row);
  const body: ProgressEventDto = { type: 'request.progress', ...aboutRun(row, base), progress };
  return JSON.stringify(body);
}

/** An erasure deletes the content. A delivery of an earlier release has none. */
function contentOf(row: ClaimedDelivery & RequestRow) {
  const { content } = row;
  const startedAt = new Date(row.startedAtMs ?? row.createdAtMs).toISOString();
  return {
    at: content?.at ?? startedAt,
    attempt: content?.attempt ?? attemptOf(row),
    progress: content?.progress ?? null,
  };
}
