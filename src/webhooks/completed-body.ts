import { toStatus } from '../requests/status-view.js';
import type { CompletedEventDto } from './dto/events.dto.js';
import type { ClaimedDelivery } from './queries/claim-deliveries.js';

type HeadName = 'type' | 'timestamp' | 'request_id' | 'model_id' | 'status';

/**
 * Returns the body of `request.completed` in the service's own form. The output is inserted as text, because its numbers could change if it were
 * parsed and written again.
 */
export function completedBody(row: ClaimedDelivery, base: string): string {
  const status = toStatus({ row, position: 0, reason: undefined }, base);
  const { request_id, success, error, metrics, tags, attempt, response_url } = status;
  const head: Pick<CompletedEventDto, HeadName> = {
    type: 'request.completed',
    timestamp: new Date(row.completedAtMs!).toISOString(),
    request_id: request_id!,
    model_id: row.modelId,
    status: success === true ? 'OK' : 'ERROR',
  };
  const tail: Omit<CompletedEventDto, HeadName | 'payload'> = {
    ...(success === true && { payload_error: payloadErrorOf(row) }),
    error: error ?? null,
    metrics: metrics as CompletedEventDto['metrics'],
    tags: tags!,
    attempt: attempt!,
    response_url: response_url!,
  };
  const output = success === true ? row.output : null;
  return `${JSON.stringify(head).slice(0, -1)},"payload":${output ?? 'null'},${JSON.stringify(tail).slice(1)}`;
}

export type PayloadError = NonNullable<CompletedEventDto['payload_error']>;

/** Returns why a success is sent without its output. undefined: it is sent with it. */
export function payloadErrorOf({ output, outputBytes }: ClaimedDelivery): PayloadError | undefined {
  if (output !== null) return undefined;
  return outputBytes === 0 ? 'gone' : 'too_large';
}
