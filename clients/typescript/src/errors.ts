import type { CompletedStatus, FieldError, ProblemCode } from './types.js';

/**
 * `aborted`: its signal fired. `timeout`, `connection_failed`, `invalid_response`: no answer that can be read, after all
 * tries. `http_502` and the like: something between client and service answered. The rest are the service's own codes.
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

/** What every method rejects with, unless its arguments make no sense (TypeError). */
export class NowServingError extends Error {
  /** The stable name of the failure; the service's own are explained at its `/docs/errors`. */
  readonly code: ErrorCode;
  /** The failure in words. */
  readonly detail: string;
  /** Of the answer over HTTP, if there was one. */
  readonly status: number | undefined;
  /** What is wrong with which place of the input. */
  readonly errors: FieldError[] | undefined;
  /** What the model said. */
  readonly details: unknown;
  /** The request that it is about, where that is known. */
  readonly requestId: string | undefined;
  /** `X-Request-Id` of the answer, for the operator. */
  readonly callId: string | undefined;
  /** Seconds after which another try makes sense. */
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

/** How a request ended; the same call would be answered the same again, whatever its status. */
const finalCodes = new Set([
  'model_error',
  'model_unavailable',
  'node_lost',
  'worker_lost',
  'timed_out',
  'expired',
  'cancelled',
]);
/** A caller that should wait for longer decides by itself. */
const maxRetryAfterSeconds = 120;
const passingCodes = new Set(['rate_limited', 'timeout', 'connection_failed', 'invalid_response']);

/** Whether the same call may fare better later. */
export function mayPass(error: unknown): error is NowServingError {
  if (!(error instanceof NowServingError) || finalCodes.has(error.code)) return false;
  const { code, status = 0, retryAfter = 0 } = error;
  if (retryAfter > maxRetryAfterSeconds) return false;
  return passingCodes.has(code) || status === 408 || status === 429 || status >= 500;
}

/** The `AbortError` or `TimeoutError` of a signal by name, with what is known of the request. */
export function abortError(signal: AbortSignal, requestId?: string): NowServingError {
  const cause: unknown = signal.reason;
  const error = new NowServingError('aborted', 'The signal of the call fired before it was done.', {
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
