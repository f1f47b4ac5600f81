import { isJson } from './json-text.js';

const maxMessageLength = 500;

/** Why a run must stop; the `reason` of the error that `run.signal` throws. */
export type StopReason = 'cancelled' | 'timed_out' | 'lost' | 'shutdown';

/** Thrown by a handler: this attempt failed, another one may succeed. */
export class Retry extends Error {
  /** Seconds until the next attempt, if the model's own backoff should not decide. */
  readonly after: number | undefined;

  constructor({
    after,
    message = 'The worker asked for another attempt.',
  }: { after?: number; message?: string } = {}) {
    super(message);
    this.name = 'Retry';
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

/** A failure as the service accepts it. */
export interface Failure {
  message: string;
  retryable: boolean;
  retry_after_s?: number;
  status?: number;
  details?: unknown;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Fail) {
    const { message, status, details } = error;
    return { message, retryable: false, ...told({ status, details }) };
  }
  if (error instanceof Retry) {
    const { message, after } = error;
    return { message, retryable: true, ...told({ retry_after_s: after }) };
  }
  if (error instanceof Stopped) return { message: error.message, retryable: error.reason !== 'cancelled' };
  return { message: firstLineOf(error), retryable: true };
}

/** Drops the fields that are not valid JSON, so that the failure itself is still reported. */
function told<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isJson(value))) as Partial<Fields>;
}

/** The message is shown to callers, so it has no stack and a bounded length. */
function firstLineOf(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.split('\n', 1)[0]!.slice(0, maxMessageLength);
}
