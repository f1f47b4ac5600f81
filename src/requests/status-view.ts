import type { LogEntry } from '../queue/runs/run-log.js';
import type { TimeSpan } from '../queue/estimates/estimate.js';
import type { RequestRow, Snapshot } from '../queue/reads/status-row.js';
import { toTime } from '../tools/to-time.js';
import type * as dto from './dto/answers.dto.js';

type QueuedRequest = Record<keyof dto.QueuedRequestDto, string>;
type Metrics = Partial<dto.FinalMetricsDto>;
/** A status in any of the three states. */
type Status = Partial<
  Omit<dto.InQueueStatusDto & dto.InProgressStatusDto & dto.CompletedStatusDto, 'metrics'>
> & { metrics: Metrics };

/**
 * Builds the status object of this API. Adapters have objects of their own, such as fal's in `adapters/fal/wire.ts`.
 * Without `logs`, the caller did not ask for them.
 */
export function toStatus(
  { row, position, reason, estimate }: Omit<Snapshot, 'row'> & { row: RequestRow },
  base: string,
  logs?: LogEntry[],
): Status {
  const status: Status = { status: row.state, ...toQueuedRequest(base, row.id), metrics: toMetrics(row) };
  if (row.state === 'IN_QUEUE') status.queue_position = position;
  if (row.state === 'IN_PROGRESS' && row.progress) status.progress = row.progress;
  if (logs !== undefined) status.logs = logs.map(toLogEntry);
  if (row.state === 'COMPLETED') {
    status.success = row.outcome === 'succeeded';
    status.error = row.error && toError(row.error);
  }
  status.model_id = row.modelId;
  status.created_at = toTime(row.createdAtMs);
  status.started_at = toTime(row.startedAtMs);
  status.completed_at = toTime(row.completedAtMs);
  status.attempt = attemptOf(row);
  status.tags = row.tags ?? [];
  if (reason !== undefined) status.reason = reason;
  if (estimate?.start !== undefined) status.estimated_start = toSpan(estimate.start);
  if (estimate !== undefined) status.estimated_end = toSpan(estimate.end);
  if (row.notBeforeMs !== null) status.scheduled_at = toTime(row.notBeforeMs);
  if (row.retryOf !== null) status.retry_of = row.retryOf;
  if (row.retriedAs !== null) status.retried_as = row.retriedAs;
  if (row.erasedAtMs !== null) status.erased_at = toTime(row.erasedAtMs);
  return status;
}

/** `root`: the path below which the request is served. */
export function toQueuedRequest(base: string, request_id: string, root = '/v1/queue'): QueuedRequest {
  const response_url = `${base}${root}/requests/${request_id}`;
  return {
    request_id,
    response_url,
    status_url: `${response_url}/status`,
    cancel_url: `${response_url}/cancel`,
  };
}

function toSpan({ fromMs, toMs }: TimeSpan): dto.TimeSpanDto {
  return { from: toTime(fromMs), to: toTime(toMs) };
}

/** Failed and lost runs + 1. For a request that failed for good, the last of these was the last attempt. */
export function attemptOf({ outcome, failedAttempts, lostAttempts }: RequestRow): number {
  return failedAttempts + lostAttempts + (outcome === 'failed' ? 0 : 1);
}

/**
 * Returns the whole seconds after which another poll makes sense. A request far from the front does not change soon.
 */
export function retryAfterSeconds({ row, position, nextProbeAtMs }: Snapshot, nowMs: number): number {
  const nextMs = nextProbeAtMs ?? row.delayedUntilMs;
  if (nextMs !== null) return Math.max(1, Math.ceil((nextMs - nowMs) / 1_000));
  return Math.min(30, 1 + Math.floor(position / 100));
}

/** Seconds, with millisecond precision. */
export function toMetrics({ state, queueMs, inferenceMs, usage }: RequestRow): Metrics {
  if (state === 'IN_QUEUE') return {};
  const queue_time = seconds(queueMs ?? 0);
  if (state === 'IN_PROGRESS') return { queue_time };
  const inference_time = inferenceMs === null ? null : seconds(inferenceMs);
  return { queue_time, inference_time, ...(usage && { usage }) };
}

export function toLogEntry({ message, level, source, at }: LogEntry): dto.LogEntryDto {
  return { message, level, source, timestamp: at.toISOString() };
}

/** The error without its HTTP status. */
function toError(error: NonNullable<RequestRow['error']>): dto.RequestErrorDto {
  const { code, message, timestamp, details } = error;
  return { code, message, timestamp, details };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
