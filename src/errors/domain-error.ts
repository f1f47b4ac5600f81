import { problemCodes, type ProblemCode } from './problem-codes.js';

/** One thing wrong with one place of the input; `path` is a JSON Pointer (RFC 6901), '' for the whole. */
export interface FieldError {
  path: string;
  message: string;
}

export interface DomainErrorOptions {
  /** Overrides the status of the code's row, e.g. a model's own 4xx. */
  status?: number;
  errors?: FieldError[];
  /** What the model said, as JSON. */
  details?: unknown;
  /** Becomes `Retry-After`, in whole seconds. */
  retryAfterSeconds?: number;
  /** When it went wrong, if that is not now: ISO 8601 UTC. */
  timestamp?: string;
  extensions?: Record<string, unknown>;
  cause?: unknown;
}

/** What the rooms throw; the doors of HTTP turn it into problem+json. `message` is shown to the caller. */
export class DomainError extends Error {
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly options: DomainErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'DomainError';
  }

  get status(): number {
    return this.options.status ?? problemCodes[this.code].status;
  }
}
