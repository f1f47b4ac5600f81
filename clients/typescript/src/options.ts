import type { Duration, Filter, RequestOptions, WireFilter, WireOptions } from './types.js';

/** The options of a submission under the names of the API. */
export function optionsOnWire(options: RequestOptions): WireOptions {
  const { webhook, priority, notBefore, delay, expires, timeout, tags } = options;
  return {
    webhook,
    priority,
    not_before: timeOf(notBefore),
    delay: durationOf(delay),
    expires: durationOf(expires),
    timeout: durationOf(timeout),
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
}: Filter): WireFilter {
  return {
    model_id: model,
    status,
    outcome,
    tag: tags,
    created_after: timeOf(createdAfter),
    created_before: timeOf(createdBefore),
  };
}

/** As the draft of the IETF has it: a quoted string. */
export function idempotencyHeader(key: string = randomKey()): Record<string, string> {
  return { 'idempotency-key': `"${key.replaceAll(/["\\]/g, String.raw`\$&`)}"` };
}

/** 128 bits; `randomUUID` is only there on pages that came by https. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const timeOf = (time: Date | string | undefined): string | undefined =>
  time instanceof Date ? time.toISOString() : time;
const durationOf = (duration: Duration | undefined): string | undefined =>
  typeof duration === 'number' ? `${duration}ms` : duration;
