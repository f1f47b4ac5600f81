import { isJson } from './json-text.js';

const maxMessageLength = 500;
/** The service keeps no more of a message that is meant for callers. */
const maxMeantLength = 8_192;

/** Why a run must stop; the `reason` of the error that `run.signal` throws. */
export type StopReason = 'cancelled' | 'timed_out' | 'lost' | 'shutdown';

/** Thrown by a handler: this attempt failed, another one may succeed. */
export class Retry extends Error {
  /** Seconds until the next attempt, if the model's own backoff should not decide. */
  readonly after: number | undefined;

  constructor(message?: string, options?: { after?: number });
  constructor(options?: { after?: number; message?: string });
  constructor(first: string | { after?: number; message?: string } = {}, options: { after?: number } = {}) {
    const { after, message } = typeof first === 'string' ? { ...options, message: first } : first;
    super(message ?? 'The worker asked for another attempt.');
    this.name = 'Retry';
    this.after = after;
  }
}

/**
 * Thrown or returned by a handler: it can run nothing yet, for example because its backend loads. The run goes back to
 * the queue at no cost to its attempts. It starts again after `after` seconds (5) or later. Until then this worker
 * sends no claim for the model.
 */
export class Away extends Error {
  readonly after: number;

  constructor(message = "The worker's backend is away.", { after = 5 }: { after?: number } = {}) {
    super(message);
    if (!(after >= 0 && after < Infinity))
      throw new RangeError(`The seconds of Away must be a number of at least 0, not ${after}.`);
    this.name = 'Away';
    this.after = after;
  }
}

/** Thrown by a handler: no other attempt would succeed. The caller sees all of its fields. */
export class Fail extends Error {
  /** The HTTP status that the caller gets, 400 to 499. */
  readonly status: number | undefined;
  /** Any JSON value. */
  readonly details: unknown;

  constructor(message: string, { status, details }: { status?: number; details?: unknown } = {}) {
    super(message);
    this.name = 'Fail';
    this.status = status;
    this.details = details;
  }
}

/** The error that `run.signal` is aborted with. */
export class Stopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`The run must stop: ${reason}.`);
    this.name = 'AbortError';
    this.reason = reason;
  }
}

/** The run never began, and no other run could begin here. The request is handed back and the worker stops. */
export class HandBack extends Error {
  override name = 'HandBack';
}

/** The error of `run.download` and `run.upload`: a file was not transferred completely. */
export class TransferError extends Error {
  override name = 'TransferError';
  /** The HTTP status of the answer, if there was one. */
  readonly status: number | undefined;

  constructor(message: string, { status, cause }: { status?: number | undefined; cause?: unknown } = {}) {
    super(message, { cause });
    this.status = status;
  }
}

/** One try of a transfer failed; another may succeed. */
export class Broken extends Error {
  readonly status: number | undefined;
  /** The service, or a proxy before it, does not answer. */
  readonly isAway: boolean;
  readonly retryAfterS: number | undefined;

  constructor(
    message: string,
    {
      status,
      isAway = true,
      retryAfterS,
    }: { status?: number; isAway?: boolean; retryAfterS?: number | undefined } = {},
  ) {
    super(message);
    this.status = status;
    this.isAway = isAway;
    this.retryAfterS = retryAfterS;
  }
}

/** The statuses of a file that is not there, or not any more. */
export const missing: readonly (number | undefined)[] = [404, 410];

/** What a program that a handler ran has said last. Operators see it; callers do not, because it may hold anything. */
const lastWords = new WeakMap<Error, string>();

export function withLastWords<Failed extends Error>(error: Failed, words: string): Failed {
  if (words !== '') lastWords.set(error, words.slice(0, maxMessageLength));
  return error;
}

/** A failure as the service accepts it. */
export interface Failure {
  message: string;
  retryable: boolean;
  retry_after_s?: number;
  status?: number;
  details?: unknown;
  model_message?: string;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Fail) {
    const { status, details } = error;
    const model_message = lastWords.get(error);
    return {
      message: error.message.slice(0, maxMeantLength),
      retryable: false,
      ...validOf({ status, details, model_message }),
    };
  }
  if (error instanceof Retry || error instanceof Away) {
    const { after } = error;
    const model_message = lastWords.get(error);
    return {
      message: error.message.slice(0, maxMeantLength),
      retryable: true,
      ...validOf({ retry_after_s: after, model_message }),
    };
  }
  if (error instanceof TransferError && missing.includes(error.status))
    return { message: error.message, retryable: false, status: 422 };
  if (error instanceof Stopped) return { message: error.message, retryable: error.reason !== 'cancelled' };
  return { message: described(error), retryable: true };
}

/** Drops the fields that are not valid JSON, so that the failure itself is still reported. */
function validOf<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isJson(value))) as Partial<Fields>;
}

/** The message is shown to callers, so it has no stack and a bounded length. */
export function described(error: unknown): string {
  return textOf(error).split('\n', 1)[0]!.slice(0, maxMessageLength);
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'The handler threw something without a text.'; // such as an object without a prototype
  }
}
