import { toLogEntry, toMetrics, toQueuedRequest } from '../../requests/status-view.js';
import type { LogEntry } from '../../queue/runs/run-log.js';
import type { Snapshot, StatusRow } from '../../queue/reads/status-row.js';
import { errorTypeOf } from './fal-error.js';

/** First path segments that come before the owner. */
const namespaces = ['workflows', 'comfy'];

/** Clients address a request by owner and alias, which are the first segments of its model's id. */
function rootOf(modelId: string): string {
  const segments = modelId.split('/');
  return `/fal/${segments.slice(0, namespaces.includes(segments[0]!) ? 3 : 2).join('/')}`;
}

/** What a request shows right after its submission. */
interface Queued {
  row: Pick<StatusRow, 'id' | 'modelId'>;
  /** undefined: it could not be read. */
  position?: number;
}

/** Returns the answer to a submission. */
export function toFalQueued({ row, position }: Queued, base: string): object {
  return {
    status: 'IN_QUEUE',
    ...toQueuedRequest(base, row.id, rootOf(row.modelId)),
    queue_position: position,
  };
}

/** fal's clients fail on missing members, so `logs` is null when there are no logs. */
export function toFalStatus({ row, position }: Snapshot, base: string, logs?: LogEntry[]): object {
  const status = { status: row.state, ...toQueuedRequest(base, row.id, rootOf(row.modelId)) };
  if (row.state === 'IN_QUEUE') return { ...status, queue_position: position };
  const logged = { ...status, logs: logs?.map(toFalLog) ?? null };
  return row.state === 'IN_PROGRESS' ? logged : { ...logged, metrics: toMetrics(row), ...failureOf(row) };
}

function failureOf({ error }: StatusRow): object {
  return error === null ? {} : { error: error.message, error_type: errorTypeOf(error) };
}

function toFalLog(entry: LogEntry): object {
  const { message, level, source, timestamp } = toLogEntry(entry);
  const isPrinted = source === 'stdout' || source === 'stderr';
  return { message, level: isPrinted ? source.toUpperCase() : level, source: 'USER', timestamp };
}
