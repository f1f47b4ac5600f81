import { toTime } from '../tools/to-time.js';
import type { Batch } from './batch.js';
import type { BatchCompletedEventDto, BatchDto, BatchFactsDto } from './dto/batches.dto.js';
import { linesType } from './segment-writer.js';

/** Builds the part of the object of a batch that its caller and operators see. */
export function toBatchFacts(batch: Batch): Pick<BatchFactsDto, keyof BatchFactsDto> {
  return {
    batch_id: batch.id,
    status: batch.status,
    model_id: batch.modelId,
    tag: batch.tag,
    priority: batch.priority,
    created_at: toTime(batch.createdAtMs),
    started_at: toTime(batch.startedAtMs),
    ended_at: toTime(batch.endedAtMs),
    expires_at: toTime(batch.expiresAtMs),
    counts: batch.counts,
  };
}

/** Builds the object of a batch, as this API shows it. */
export function toBatchView(batch: Batch, base: string): Pick<BatchDto, keyof BatchDto> {
  const url = `${base}/v1/batches/${batch.id}`;
  return {
    ...toBatchFacts(batch),
    errors: batch.errors,
    webhook: batch.webhookUrl,
    batch_url: url,
    cancel_url: `${url}/cancel`,
    output_url: `${url}/output`,
    errors_url: `${url}/errors`,
  };
}

/** Returns the JSON text of `batch.completed`. */
export function batchCompletedBody(batch: Batch, base: string): string {
  const timestamp = toTime(batch.endedAtMs!);
  const event: BatchCompletedEventDto = { type: 'batch.completed', timestamp, ...toBatchView(batch, base) };
  return JSON.stringify(event);
}

/** The service's own name and type of a file of a batch. */
export const linesFile = (batchId: string): { contentType: string; fileName: string } => ({
  contentType: linesType,
  fileName: `${batchId}.jsonl`,
});
