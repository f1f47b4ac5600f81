import type { CompletedStatus, FieldError, ProblemCode } from './types.js';

/**
 * `aborted`: the signal of the call fired. `timeout`, `connection_failed`, `invalid_response`: all tries failed to get
 * a readable answer. `http_502` and the like: something between client and service answered. The others are the
 * service's own codes.
 */
export type ErrorCode =
  | ProblemCode
  | 'aborted'
  | 'timeout'
  | 'connection_failed'
  | 'invalid_response'
  | 'invalid_signature'
  | 'outside_tolerance'
  | 'unreadable_file'
  | `http_${number}`
  | (string & {});

export interface ErrorFields {
  status?: number | undefined;
  errors?: FieldError[] | undefined;
  details?: unknown;
  requestId?: string | undefined;
  callId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** The error that every method rejects with, unless its arguments are invalid (TypeError). */
export class NowServingError extends Error {
  /** The stable name of the failure. The service explains its own codes at `/docs/errors`. */
  readonly code: ErrorCode;
  /** The failure in words. */
  readonly detail: string;
  /** HTTP status of the answer, if there was one. */
  readonly status: number | undefined;
  /** The faults of the input, each with its place. */
  readonly errors: FieldError[] | undefined;
  /** Details that the model returned with its error. */
  readonly details: unknown;
  /** The id of the request that the call is about, if it is known. */
  readonly requestId: string | undefined;
  /** `X-Request-Id` of the answer, for the operator. */
  readonly callId: string | undefined;
  /** Seconds to wait before another try. */
  readonly retryAfter: number | undefined;

  constructor(code: ErrorCode, detail: string, fields: ErrorFields = {}) {
    super(`${detail} (${code})`, { cause: fields.cause });
    this.name = 'NowServingError';
    this.code = code;
    this.detail = detail;
    this.status = fields.status;
    this.errors = fields.errors;
    this.details = fields.details;
    this.requestId = fields.requestId;
    this.callId = fields.callId;
    this.retryAfter = fields.retryAfter;
  }
}

/** Codes that say how a request ended. The same call would get the same answer again, whatever its HTTP status. */
const finalCodes = new Set([
  'model_error',
  'model_unavailable',
  'node_lost',
  'worker_lost',
  'timed_out',
  'expired',
  'cancelled',
]);
/** With a longer wait, the caller decides itself whether to try again. */
const maxRetryAfterSeconds = 120;
const passingCodes = new Set(['rate_limited', 'timeout', 'connection_failed', 'invalid_response']);

/** Returns whether the same call may succeed later. */
export function mayPass(error: unknown): error is NowServingError {
  if (!(error instanceof NowServingError) || finalCodes.has(error.code)) return false;
  const { code, status = 0, retryAfter = 0 } = error;
  if (retryAfter > maxRetryAfterSeconds) return false;
  return passingCodes.has(code) || status === 408 || status === 429 || status >= 500;
}

/** Codes of a DELETE whose target does not exist, or not any more. */
const missingCodes = ['gone', 'unknown_id', 'batch_not_found'];

export const isMissing = (error: unknown): boolean =>
  error instanceof NowServingError && missingCodes.includes(error.code);

/** Returns whether the service answered that it has not done what the call asked for. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof NowServingError && error.status !== undefined && error.status >= 400 && error.status < 500;

/**
 * Returns whether a rate limit refused the call and said when its turn comes. Such a refusal is no failure: the call
 * waits, and `retries` does not count it.
 */
export const isTurnedAway = ({ code, retryAfter = 0 }: NowServingError): boolean =>
  code === 'rate_limited' && retryAfter > 0;

/**
 * Returns an error named after the signal's reason (`AbortError` or `TimeoutError`), with the request's id if known.
 */
export function abortError(signal: AbortSignal, requestId?: string): NowServingError {
  const cause: unknown = signal.reason;
  const error = new NowServingError('aborted', 'The signal aborted the call before it was done.', {
    requestId,
    cause,
  });
  error.name = (cause as Partial<Error> | null)?.name ?? 'AbortError';
  return error;
}

export function succeeded(status: CompletedStatus): CompletedStatus {
  if (status.success) return status;
  const { code = 'unknown', message = 'The request failed.', details } = status.error ?? {};
  throw new NowServingError(code, message, { details, requestId: status.request_id });
}
