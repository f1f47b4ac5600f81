import type { DomainError } from '../errors/domain-error.js';
import { problemCodes } from '../errors/problem-codes.js';
import type { ProblemDto } from './openapi/problem.dto.js';

export const problemMediaType = 'application/problem+json';

/** An RFC 9457 problem object as it goes over the wire; `type` is a reference that this service itself serves. */
export function toProblem(error: DomainError, instance: string): ProblemDto {
  const { errors, details, timestamp = new Date().toISOString(), extensions } = error.options;
  const { code, status, message: detail } = error;
  const { title } = problemCodes[code];
  const type = `/docs/errors#${code}`;
  return { type, title, status, detail, instance, code, timestamp, errors, details, ...extensions };
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
