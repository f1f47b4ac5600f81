import type { Call } from './transport.js';
import type { Filter, RequestOptions, SubmitOptions, WireFilter, WireOptions } from './types.js';

/** Returns the options of a submission under their API names. */
export function optionsOnWire(options: RequestOptions): WireOptions {
  const { webhook, priority, notBefore, delayS, expiresS, timeoutS, tags, ...others } = options;
  refuse(others, 'option', 'webhook, priority, notBefore, delayS, expiresS, timeoutS and tags', ours);
  return {
    webhook,
    priority,
    not_before: timeOf(notBefore),
    delay: durationOf(delayS),
    expires: durationOf(expiresS),
    timeout: durationOf(timeoutS),
    tag: tags,
  };
}

export function filterOnWire({
  model,
  status,
  outcome,
  tags,
  createdAfter,
  createdBefore,
  ...others
}: Filter): WireFilter {
  refuse(others, 'filter', 'model, status, outcome, tags, createdAfter and createdBefore', ours);
  return {
    model_id: model,
    status,
    outcome,
    tag: tags,
    created_after: timeOf(createdAfter),
    created_before: timeOf(createdBefore),
  };
}

/** Options of a call that are not sent to the service. */
const ours = new Set(['input', 'idempotencyKey', 'signal', 'logs', 'cancelOnAbort']);

/**
 * Rejects unknown names. An ignored filter would widen a cancel, and an ignored option would start at once a request
 * that was to wait.
 */
export function refuse(
  others: object,
  kind: string,
  known: string,
  allowed: ReadonlySet<string> = new Set(),
): void {
  const name = Object.keys(others).find((one) => !allowed.has(one));
  if (name !== undefined) throw new TypeError(`There is no ${kind} "${name}". The known ones are ${known}.`);
}

/** The value is a quoted string, as the IETF draft requires. */
export function idempotencyHeader(key: string = randomKey()): Record<string, string> {
  return { 'idempotency-key': `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"` };
}

/** Returns 128 random bits. `randomUUID` exists only on pages served over HTTPS. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const timeOf = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;
export const durationOf = (seconds: number | undefined): string | undefined =>
  seconds === undefined ? undefined : `${Math.round(seconds * 1_000)}ms`;

/** In `input`, URLs have already replaced the files. */
export function submissionOf(
  model: string,
  { input, idempotencyKey, signal, ...options }: SubmitOptions,
): Call {
  return {
    method: 'POST',
    path: ['queue', ...model.split('/')],
    query: optionsOnWire(options),
    body: input,
    headers: idempotencyHeader(idempotencyKey),
    signal,
  };
}
