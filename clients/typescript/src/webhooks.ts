import { NowServingError } from './errors.js';
import type { Batch } from './types.js';

/** What the bodies of the events of a request have. */
interface RequestEvent {
  timestamp: string;
  request_id: string;
  model_id: string;
  tags: string[];
  attempt: number;
}

/** The body of `request.completed`. */
export interface CompletedEvent<Output = unknown> extends RequestEvent {
  type: 'request.completed';
  status: 'OK' | 'ERROR';
  payload: Output | null;
  /** Why `payload` is missing although there is an output. Fetch it from `response_url`. */
  payload_error?: 'too_large' | 'gone';
  error: { code: string; message: string; [more: string]: unknown } | null;
  metrics: { queue_time?: number; inference_time?: number | null };
  response_url: string;
}

/** The body of `request.started`. */
export interface StartedEvent extends RequestEvent {
  type: 'request.started';
  metrics: { queue_time: number };
  status_url: string;
}

/** The body of `request.progress`. */
export interface ProgressEvent extends RequestEvent {
  type: 'request.progress';
  /** null: the request was erased meanwhile. */
  progress: { value: number; message: string | null } | null;
  status_url: string;
}

/** The body of `batch.completed`: the batch that has ended. */
export interface BatchCompletedEvent extends Batch {
  type: 'batch.completed';
  timestamp: string;
}

/** The body that the service sends to a webhook. Its `type` tells which event it is. */
export type WebhookEvent<Output = unknown> =
  CompletedEvent<Output> | StartedEvent | ProgressEvent | BatchCompletedEvent;

/** A `Headers`, or Node's `request.headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

const toleranceSeconds = 300;

/**
 * Returns the event in `body` after verifying that the service sent it within the last five minutes (Standard Webhooks
 * 1.0). `body` must be the raw body, not parsed and serialised again; `secret` is a `whsec_…`.
 */
export async function verifyWebhook<Output = unknown>(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string,
): Promise<WebhookEvent<Output>> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) => {
    const field = fieldOf(headers, `webhook-${name}`);
    if (!field) throw refused(`The header webhook-${name} is missing.`);
    return field;
  }) as [string, string, string];
  const age = Date.now() / 1_000 - Number(timestamp);
  if (!/^\d+$/.test(timestamp)) throw refused('The header webhook-timestamp is not a number of seconds.');
  if (Math.abs(age) > toleranceSeconds) {
    const why = 'It is more than five minutes old, or the clocks differ by more than that.';
    throw new NowServingError('outside_tolerance', untrusted(why));
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const hash = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', secretBytes(secret), hash, false, ['verify']);
  for (const signature of signatures.split(' ')) {
    const given = signature.startsWith('v1,') ? bytesOf(signature.slice(3)) : undefined;
    // Compares in constant time.
    if (given !== undefined && (await crypto.subtle.verify('HMAC', key, given, signed))) {
      return JSON.parse(new TextDecoder().decode(bytes)) as WebhookEvent<Output>;
    }
  }
  throw refused('No signature matches: the secret is another one, or the body was changed.');
}

const untrusted = (why: string): string => `The webhook cannot be trusted. ${why}`;
const refused = (why: string): NowServingError => new NowServingError('invalid_signature', untrusted(why));

function fieldOf(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined;
  const fields = Object.entries(headers as Exclude<WebhookHeaders, Headers>);
  const found = fields.find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof found === 'string' ? found : found?.[0];
}

function secretBytes(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = bytesOf(secret.trim().replace(/^whsec_/, ''));
  if (bytes === undefined || bytes.length === 0)
    throw new TypeError('The secret of a webhook must be whsec_ followed by base64.');
  return bytes;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
