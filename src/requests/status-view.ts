import type { LogEntry } from '../queue/runs/run-log.js';
import type { StatusRow } from '../queue/status-row.js';
import { requestUrls, type RequestUrls } from './request-urls.js';

export interface LogEntryView {
  message: string;
  level: string;
  source: string;
  timestamp: string;
}

export interface ErrorView {
  code: string;
  message: string;
  timestamp: string;
  details?: unknown;
}

export interface StatusView extends RequestUrls {
  status: StatusRow['state'];
  request_id: string;
  queue_position?: number;
  metrics: { queue_time?: number; inference_time?: number | null };
  logs?: LogEntryView[];
  success?: boolean;
  error?: ErrorView | null;
}

export interface StatusParts {
  row: StatusRow;
  base: string;
  /** Only read while the request waits. */
  position: () => number;
  /** undefined: the caller did not ask for logs. */
  logs?: LogEntry[] | undefined;
}

/** The one place where a status object gets its shape. */
export function toStatusView({ row, base, position, logs }: StatusParts): StatusView {
  const urls = requestUrls(base, row.id);
  const view: StatusView = { status: row.state, request_id: row.id, ...urls, metrics: toMetrics(row) };
  if (row.state === 'IN_QUEUE') view.queue_position = position();
  if (logs !== undefined) view.logs = row.state === 'IN_QUEUE' ? [] : logs.map(toLogEntryView);
  if (row.state === 'COMPLETED') {
    view.success = row.outcome === 'succeeded';
    view.error = row.error === null ? null : toErrorView(row.error);
  }
  return view;
}

/** Seconds with milliseconds. */
export function toMetrics({ state, queueMs, inferenceMs }: StatusRow): StatusView['metrics'] {
  if (state === 'IN_QUEUE') return {};
  const queue_time = seconds(queueMs ?? 0);
  if (state === 'IN_PROGRESS') return { queue_time };
  return { queue_time, inference_time: inferenceMs === null ? null : seconds(inferenceMs) };
}

export function toLogEntryView({ message, level, source, at }: LogEntry): LogEntryView {
  return { message, level, source, timestamp: at.toISOString() };
}

function toErrorView({ code, message, timestamp, details }: NonNullable<StatusRow['error']>): ErrorView {
  return { code, message, timestamp, ...(details === undefined ? {} : { details }) };
}

function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
