import type { AdapterDelivery } from '../../webhooks/webhook-bodies.js';
import { toFalError } from './fal-error.js';

/**
 * Returns the body of a webhook in fal's format. If the request did not succeed, the payload is what the result call
 * would answer.
 */
export function falWebhookBody({ row: { id, error, output }, payloadError }: AdapterDelivery): string {
  const ids = { request_id: id, gateway_request_id: id };
  if (error !== null) {
    const failure = { status: 'ERROR', error: error.message, payload: toFalError(error).body };
    return JSON.stringify({ ...ids, ...failure });
  }
  const head = JSON.stringify({ ...ids, status: 'OK', error: null, payload_error: payloadError });
  return `${head.slice(0, -1)},"payload":${output ?? 'null'}}`;
}
