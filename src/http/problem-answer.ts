import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { Logger } from 'pino';
import { databaseError } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import { problemHeaders, toProblem } from './problem.js';

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

const answered = new WeakMap<ServerResponse, ProblemCode>();

/** Of the problem that was answered, if it was one. */
export function problemCodeOf(response: ServerResponse): ProblemCode | undefined {
  return answered.get(response);
}

/**
 * What to answer for a thrown thing; undefined: an answer has begun, and was broken off. The caller hears nothing of
 * the cause of what was not foreseen; the log finds it by the id.
 */
export function toAnswer(
  thrown: unknown,
  { method, url }: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  logger: Logger,
): DomainError | undefined {
  const error = toDomainError(thrown);
  if (error.code === 'internal_error') {
    const path = url?.split('?', 1)[0];
    const err = error.options.cause ?? error;
    logger.error({ requestId, method, path, err }, 'a request failed unexpectedly');
  }
  if (!response.headersSent) return error;
  if (!response.writableEnded) response.destroy();
  return undefined;
}

/** Besides the header fields that are set already. A Buffer and its type: problem+json has no charset. */
export function answerProblem(error: DomainError, target: string, response: ServerResponse): void {
  answered.set(response, error.code);
  const body = Buffer.from(JSON.stringify(toProblem(error, target.split('?', 1)[0]!)));
  for (const [name, value] of Object.entries(problemHeaders(error))) response.setHeader(name, value);
  response.setHeader('Content-Length', body.length);
  response.statusCode = error.status;
  response.end(body);
}

/** What was not foreseen becomes `internal_error` and says nothing more. */
function toDomainError(thrown: unknown): DomainError {
  const error = thrown instanceof DomainError ? thrown : databaseError(thrown);
  if (error instanceof DomainError) return error;
  const status = frameworkStatus(error);
  if (status !== undefined && (status < 500 || status === 503)) {
    const code = codeByStatus[status] ?? 'bad_request';
    return new DomainError(code, (error as Error).message, { status, cause: error });
  }
  const detail = 'The service failed to answer. The request id finds the reason in its log.';
  return new DomainError('internal_error', detail, { cause: thrown });
}

/** The status of an error that Nest, Express or one of its parts means for the caller. */
function frameworkStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (error instanceof URIError) return 400;
  const { expose, status } = (error ?? {}) as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 ? status : undefined;
}
