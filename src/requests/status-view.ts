import type { LogEntry } from '../queue/runs/run-log.js';
import type { StatusRow } from '../queue/status-row.js';
import type * as dto from './dto/answers.dto.js';

/** A request's row and its position, as of one moment. */
export interface Snapshot {
  row: StatusRow;
  /** 0 unless it waits. */
  position: number;
}

type QueuedRequest = Record<keyof dto.QueuedRequestDto, string>;
type Metrics = Partial<dto.FinalMetricsDto>;
/** In any of the three states. */
type Status = Partial<Omit<dto.InQueueStatusDto & dto.CompletedStatusDto, 'metrics'>> & { metrics: Metrics };

/** The one place where a status object gets its shape. No `logs`: the caller did not ask for them. */
export function toStatus({ row, position }: Snapshot, base: string, logs?: LogEntry[]): Status {
  const status: Status = { status: row.state, ...toQueuedRequest(base, row.id), metrics: toMetrics(row) };
  if (row.state === 'IN_QUEUE') status.queue_position = position;
  if (logs !== undefined) status.logs = logs.map(toLogEntry);
  if (row.state === 'COMPLETED') {
    status.success = row.outcome === 'succeeded';
    status.error = row.error && toError(row.error);
  }
  return status;
}

export function toQueuedRequest(base: string, request_id: string): QueuedRequest {
  const response_url = `${base}/v1/queue/requests/${request_id}`;
  return {
    request_id,
    response_url,
    status_url: `${response_url}/status`,
    cancel_url: `${response_url}/cancel`,
  };
}

/** Seconds with milliseconds. */
export function toMetrics({ state, queueMs, inferenceMs }: StatusRow): Metrics {
  if (state === 'IN_QUEUE') return {};
  const queue_time = seconds(queueMs ?? 0);
  if (state === 'IN_PROGRESS') return { queue_time };
  return { queue_time, inference_time: inferenceMs === null ? null : seconds(inferenceMs) };
}

export function toLogEntry({ message, level, source, at }: LogEntry): dto.LogEntryDto {
  return { message, level, source, timestamp: at.toISOString() };
}

/** Without its HTTP status. */
function toError(error: NonNullable<StatusRow['error']>): dto.RequestErrorDto {
  const { code, message, timestamp, details } = error;
  return { code, message, timestamp, details };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
