import type { Batch, BatchStatus, LineFault, SegmentKind } from '../../batches/batch.js';
import type { BatchTerms } from './batch-lines.js';

const fileId = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})_(output|errors)$/;

/** Returns the id of a file that a batch writes. */
const fileIdOf = ({ id }: Batch, kind: SegmentKind): string => `${id}_${kind}`;

/** Returns which file of which batch an id names. undefined: it names none. */
export function batchFileOf(id: string): { batchId: string; kind: SegmentKind } | undefined {
  const [, batchId, kind] = fileId.exec(id) ?? [];
  return batchId === undefined ? undefined : { batchId, kind: kind as SegmentKind };
}

/** Returns the terms of a batch. A batch that was made by another API has none. */
const termsOf = ({ metadata }: Batch): Partial<BatchTerms> => metadata;

const seconds = (ms: number): number => Math.floor(ms / 1_000);
const secondsOrNull = (ms: number | null): number | null => (ms === null ? null : seconds(ms));

/** Returns a batch as OpenAI shows it. */
export function toBatch(batch: Batch): object {
  const { id, status, counts, windowSeconds } = batch;
  const { total, completed } = counts;
  const failed = counts.failed + counts.cancelled + counts.expired;
  const { endpoint = '/v1/queue', completion_window = `${windowSeconds}s`, metadata = null } = termsOf(batch);
  const endedAs = (one: BatchStatus): number | null =>
    status === one ? secondsOrNull(batch.endedAtMs) : null;
  return {
    id,
    object: 'batch',
    endpoint,
    errors: batch.errors.length === 0 ? null : { object: 'list', data: batch.errors.map(toBatchError) },
    input_file_id: batch.inputFileId,
    completion_window,
    status,
    output_file_id: completed > 0 ? fileIdOf(batch, 'output') : null,
    error_file_id: failed > 0 ? fileIdOf(batch, 'errors') : null,
    created_at: seconds(batch.createdAtMs),
    in_progress_at: secondsOrNull(batch.startedAtMs),
    expires_at: seconds(batch.expiresAtMs),
    finalizing_at: secondsOrNull(batch.finalizingAtMs),
    completed_at: endedAs('completed'),
    failed_at: endedAs('failed'),
    expired_at: endedAs('expired'),
    cancelling_at: secondsOrNull(batch.cancellingAtMs),
    cancelled_at: endedAs('cancelled'),
    request_counts: { total: total ?? 0, completed, failed },
    metadata,
  };
}

/** Returns the time at which the files of a batch are no longer shown. null: the batch still runs, or has no such time. */
export function filesExpireAtMs(batch: Batch): number | null {
  const { output_seconds: kept = null } = termsOf(batch);
  return kept === null || batch.endedAtMs === null ? null : batch.endedAtMs + kept * 1_000;
}

/**
 * Returns a file of a batch as OpenAI shows files. It grows until the batch has ended; this is the time of its
 * creation.
 */
export function toBatchFile(batch: Batch, kind: SegmentKind): object {
  const { id, createdAtMs, endedAtMs, outputBytes, errorBytes } = batch;
  const expiresAtMs = filesExpireAtMs(batch);
  return {
    id: fileIdOf(batch, kind),
    object: 'file',
    bytes: kind === 'output' ? outputBytes : errorBytes,
    created_at: seconds(endedAtMs ?? createdAtMs),
    ...(expiresAtMs !== null && { expires_at: seconds(expiresAtMs) }),
    filename: batchFileName(id, kind),
    purpose: 'batch_output',
    status: 'processed',
    status_details: null,
  };
}

export const batchFileName = (batchId: string, kind: SegmentKind): string =>
  `batch_${batchId}_${kind === 'output' ? 'output' : 'error'}.jsonl`;

/** The names of OpenAI for faults of lines, where it has one. */
const codes: Readonly<Record<string, string>> = {
  invalid_json: 'invalid_json_line',
  unknown_model: 'model_not_found',
  bad_request: 'invalid_request',
};

const toBatchError = ({ line, code, message }: LineFault): object => ({
  code: codes[code] ?? code,
  line,
  message,
  param: null,
});
