import { HttpException } from '@nestjs/common';
import { databaseError } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';

const codeByStatus: Readonly<Record<number, ProblemCode>> = {
  400: 'bad_request',
  401: 'missing_key',
  403: 'forbidden',
  404: 'not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
  415: 'unsupported_encoding',
  429: 'rate_limited',
  503: 'unavailable',
};

/** Any thrown thing as a domain error; what was not foreseen becomes `internal_error` and says nothing more. */
export function toDomainError(thrown: unknown): DomainError {
  if (thrown instanceof DomainError) return thrown;
  const error = databaseError(thrown);
  if (error instanceof DomainError) return error;
  const status = frameworkStatus(error);
  if (status !== undefined && (status < 500 || status === 503)) {
    const code = codeByStatus[status] ?? 'bad_request';
    return new DomainError(code, (error as Error).message, { status, cause: error });
  }
  return new DomainError(
    'internal_error',
    'The service failed to answer. The request id finds the reason in its log.',
    {
      cause: thrown,
    },
  );
}

/** The status of an error that Nest, Express or one of its parts means for the caller. */
function frameworkStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof URIError) return 400;
  const { expose, status } = (error ?? {}) as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 ? status : undefined;
}
