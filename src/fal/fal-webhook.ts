import type { RequestRow } from '../queue/status-row.js';
import { toFalError } from './fal-error.js';

/**
 * The body of a webhook as fal sends it; without success its payload is what the result would be answered with.
 * `output`: JSON text, which goes in as it is; null: there is none to send, for the reason of `payloadError`.
 */
export function falWebhookBody(
  { id, error }: RequestRow,
  output: string | null,
  payloadError: string | undefined,
): string {
  const ids = { request_id: id, gateway_request_id: id };
  if (error !== null) {
    const failure = { status: 'ERROR', error: error.message, payload: toFalError(error).body };
    return JSON.stringify({ ...ids, ...failure });
  }
  const head = JSON.stringify({ ...ids, status: 'OK', error: null, payload_error: payloadError });
  return `${head.slice(0, -1)},"payload":${output ?? 'null'}}`;
}
