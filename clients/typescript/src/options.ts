import type { components } from './wire.js';

type Schemas = components['schemas'];
type Wire<Name> = Record<Extract<Name, string>, string | readonly string[] | undefined>;
/** Derived from the service's schema, so that a missing option does not compile. */
type WireOptions = Wire<keyof Omit<Schemas['BatchEntry'], 'model_id' | 'input' | 'idempotency_key'>>;
type WireFilter = Wire<keyof Schemas['RequestFilter']>;

/** What the service does with a submission besides running it. */
export interface RequestOptions {
  /** URL that is called when the request has completed. */
  webhook?: string | undefined;
  priority?: 'high' | 'normal' | 'low' | undefined;
  /** The request does not start before this time. */
  notBefore?: Date | string | undefined;
  /** Seconds from now before which the request does not start. */
  delayS?: number | undefined;
  /** Seconds from the submission, or from the scheduled time, after which the request does not start any more. */
  expiresS?: number | undefined;
  /** Seconds that one run may take. */
  timeoutS?: number | undefined;
  /** Up to 8 tags of the form `key:value`, for lists and bulk calls. */
  tags?: readonly string[] | undefined;
  /** Two submissions with the same key are one request. By default each submission gets its own key. */
  idempotencyKey?: string | undefined;
}

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

export interface Filter {
  model?: string | undefined;
  status?: Schemas['Status']['status'] | undefined;
  outcome?: 'succeeded' | 'failed' | 'cancelled' | 'expired' | undefined;
  /** The request must have all of these tags. */
  tags?: readonly string[] | undefined;
  createdAfter?: Date | string | undefined;
  createdBefore?: Date | string | undefined;
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
