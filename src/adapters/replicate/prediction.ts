import type { RequestRow, StatusRow } from '../../queue/reads/status-row.js';
import { failureMessage } from '../failure-message.js';
import { toTime } from '../../tools/to-time.js';

type PredictionStatus = 'starting' | 'processing' | 'succeeded' | 'failed' | 'canceled';

/** The parts of a prediction that are not in the row of its request. Payloads are JSON text; null: there is none. */
export interface PredictionParts {
  input?: string | null;
  output?: string | null;
  logs?: string;
  /** The URL of its output as a stream. */
  stream?: string;
}

/** What the list shows of the row of a request. */
type ListedRow = Pick<
  RequestRow,
  | 'id'
  | 'modelId'
  | 'state'
  | 'outcome'
  | 'error'
  | 'inferenceMs'
  | 'createdAtMs'
  | 'startedAtMs'
  | 'completedAtMs'
  | 'hasOwnExpiry'
  | 'hasOwnTimeout'
>;

/** What a prediction shows of the row of its request. */
export type PredictionRow = ListedRow & Pick<StatusRow, 'lastEventId'>;

/** Returns the row of a request as it was when it was accepted. */
export const newRow = ({
  id,
  modelId,
  createdAtMs,
}: Pick<RequestRow, 'id' | 'modelId' | 'createdAtMs'>): PredictionRow => ({
  id,
  modelId,
  createdAtMs,
  state: 'IN_QUEUE',
  outcome: null,
  error: null,
  inferenceMs: null,
  startedAtMs: null,
  completedAtMs: null,
  hasOwnExpiry: null,
  hasOwnTimeout: false,
  lastEventId: 0,
});

export const root = '/replicate/v1';

export function statusOf(
  row: Pick<RequestRow, 'state' | 'outcome' | 'error' | 'hasOwnExpiry' | 'hasOwnTimeout'>,
): PredictionStatus {
  const { state, outcome } = row;
  if (state === 'IN_QUEUE') return 'starting';
  if (state === 'IN_PROGRESS') return 'processing';
  if (outcome === 'succeeded') return 'succeeded';
  return outcome === 'cancelled' || isLate(row) ? 'canceled' : 'failed';
}

/**
 * `Cancel-After` is also kept as bounds of the wait and of the run, where it is below those of the model. A prediction
 * that exceeds a bound of its model has failed.
 */
function isLate({
  error,
  hasOwnExpiry,
  hasOwnTimeout,
}: Pick<RequestRow, 'error' | 'hasOwnExpiry' | 'hasOwnTimeout'>): boolean {
  if (error?.code === 'expired') return hasOwnExpiry === true;
  return error?.code === 'timed_out' && hasOwnTimeout;
}

/** Returns a prediction as JSON text. Payloads are inserted unchanged. Parts that are left out are not shown. */
export function predictionText(
  row: ListedRow,
  base: string,
  { input, output, logs, stream }: PredictionParts = {},
  status = statusOf(row),
): string {
  const { id, modelId, state, error, inferenceMs, createdAtMs, startedAtMs, completedAtMs } = row;
  const url = `${base}${root}/predictions/${id}`;
  const isOver = state === 'COMPLETED';
  const prediction = {
    id,
    model: modelId,
    version: modelId,
    status,
    source: 'api',
    logs,
    error: status === 'failed' ? failureMessage(error!) : null,
    data_removed: isOver && input === null,
    created_at: toTime(createdAtMs),
    started_at: state === 'IN_QUEUE' ? null : toTime(startedAtMs),
    completed_at: toTime(completedAtMs),
    metrics: {
      ...(isOver && inferenceMs !== null && { predict_time: inferenceMs / 1_000 }),
      ...(completedAtMs !== null && { total_time: Math.round(completedAtMs - createdAtMs) / 1_000 }),
    },
    urls: { get: url, cancel: `${url}/cancel`, stream },
  };
  const written =
    (input === undefined ? '' : `,"input":${input ?? '{}'}`) +
    (output === undefined ? '' : `,"output":${output}`);
  return `${JSON.stringify(prediction).slice(0, -1)}${written}}`;
}
