import { DomainError, type FieldError } from '../errors/domain-error.js';
import { problemCodes } from '../errors/problem-codes.js';

export const problemMediaType = 'application/problem+json';

/** An RFC 9457 problem object as it goes over the wire. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  instance: string;
  code: string;
  timestamp: string;
  errors?: FieldError[];
  details?: unknown;
}

/** `type` is a relative reference that this service itself serves. */
function problemType(code: string): string {
  return `/docs/errors#${code}`;
}

export function toProblem(error: DomainError, instance: string): Problem {
  const { errors, details, timestamp, extensions } = error.options;
  const problem: Problem = {
    type: problemType(error.code),
    title: problemCodes[error.code].title,
    status: error.status,
    detail: error.message,
    instance,
    code: error.code,
    timestamp: timestamp ?? new Date().toISOString(),
    ...(errors === undefined ? {} : { errors }),
    ...(details === undefined ? {} : { details }),
  };
  return { ...problem, ...extensions };
}

/** The header fields that go with an error, whichever layer answers it. */
export function problemHeaders(error: DomainError): Record<string, string> {
  const headers: Record<string, string> = { 'Content-Type': problemMediaType, 'Cache-Control': 'no-store' };
  const { retryAfterSeconds = error.code === 'unavailable' ? 2 : undefined } = error.options;
  if (retryAfterSeconds !== undefined)
    headers['Retry-After'] = String(Math.max(1, Math.ceil(retryAfterSeconds)));
  if (error.status === 401) headers['WWW-Authenticate'] = 'Key';
  if (error.code === 'unsupported_encoding') headers['Accept-Encoding'] = 'gzip, deflate, br, identity';
  return headers;
}
