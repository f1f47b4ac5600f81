import type { RequestRow } from '../../queue/reads/status-row.js';
import { toFalError } from './fal-error.js';

/**
 * Returns the body of a webhook in fal's format. If the request did not succeed, the payload is what the result call
 * would answer. `output`: JSON text, inserted unchanged. null: no output is sent, for the reason in `payloadError`.
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
