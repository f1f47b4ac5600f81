import type { IncomingMessage, ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import type { Logger } from 'pino';
import { clock } from '../database/clock.js';
import { ofDatabase } from '../errors/database-error.js';
import { DomainError } from '../errors/domain-error.js';
import { type ProblemCode, problemCodes } from '../errors/problem-codes.js';
import type { ProblemDto } from './openapi/problem.dto.js';
import { endAfterBody } from './unread-body.js';

export const problemMediaType = 'application/problem+json';

/** Returns the RFC 9457 problem object as it is sent. `type` is a reference that this service itself serves. */
export function toProblem(error: DomainError, instance: string): ProblemDto {
  const { errors, details, timestamp = new Date(clock.now()).toISOString(), extensions } = error.options;
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

const codes = Object.keys(problemCodes) as ProblemCode[];

/** The codes of the problems with which responses were answered. */
export const answeredCodes = new WeakMap<ServerResponse, ProblemCode>();

/** Returns the answer to a thrown value; only the log has its cause. undefined: an answer had begun, and was cut. */
export function toAnswer(
  thrown: unknown,
  { method, url }: IncomingMessage,
  response: ServerResponse,
  callId: string,
  logger: Logger,
): DomainError | undefined {
  const error = toDomainError(thrown);
  if (error.code === 'internal_error') {
    const path = url?.split('?', 1)[0];
    const err = error.options.cause ?? error;
    logger.error({ callId, method, path, err }, 'a request failed unexpectedly');
  }
  if (!response.headersSent) return error;
  if (!response.writableEnded) response.destroy();
  return undefined;
}

/**
 * Keeps the header fields that are set already. The body is a Buffer with its own type, because problem+json has no
 * charset.
 */
export function answerProblem(error: DomainError, target: string, response: ServerResponse): void {
  answeredCodes.set(response, error.code);
  const body = Buffer.from(JSON.stringify(toProblem(error, target.split('?', 1)[0]!)));
  for (const [name, value] of Object.entries(problemHeaders(error))) response.setHeader(name, value);
  response.setHeader('Content-Length', body.length);
  response.statusCode = error.status;
  endAfterBody(response, body);
}

function toDomainError(thrown: unknown): DomainError {
  const error = ofDatabase(thrown);
  if (error instanceof DomainError) return error;
  const status = frameworkStatus(error);
  if (status !== undefined && (status < 500 || status === 503)) {
    // The first code of a status in the table is the most general one.
    const code = codes.find((one) => problemCodes[one].status === status) ?? 'bad_request';
    return new DomainError(code, (error as Error).message, { status, cause: error });
  }
  const detail =
    'The service failed to answer. Its log has the reason under the X-Request-Id of this answer, as `callId`.';
  return new DomainError('internal_error', detail, { cause: thrown });
}

/** Returns the status of an error that Nest, Express or one of its parts means for the caller. */
function frameworkStatus(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  // Broken percent-encoding names nothing.
  if (error instanceof URIError) return 404;
  const { expose, status } = (error ?? {}) as { expose?: unknown; status?: unknown };
  return expose === true && typeof status === 'number' && status >= 400 ? status : undefined;
}
