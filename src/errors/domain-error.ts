import { problemCodes, type ProblemCode } from './problem-codes.js';

/** One fault at one place of the input. `path` is a JSON Pointer (RFC 6901); '' is the whole input. */
export interface FieldError {
  path: string;
  message: string;
}

export interface DomainErrorOptions {
  /** Overrides the HTTP status of the code, for example with a model's own 4xx. */
  status?: number;
  errors?: FieldError[];
  /** Details from the model, as JSON. */
  details?: unknown;
  /** Sent as `Retry-After`, in whole seconds. */
  retryAfterSeconds?: number;
  /** When the error occurred, if not now: ISO 8601, UTC. */
  timestamp?: string;
  extensions?: Record<string, unknown>;
  cause?: unknown;
}

/** The error that all modules throw. The HTTP layer turns it into problem+json. The caller sees `message`. */
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
