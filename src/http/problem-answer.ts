import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { DomainError } from '../errors/domain-error.js';
import { problemHeaders, toProblem } from './problem.js';

/** Besides the header fields that are set already. A Buffer and its type: problem+json has no charset. */
export function answerProblem(error: DomainError, target: string, response: ServerResponse): void {
  const body = Buffer.from(JSON.stringify(toProblem(error, target.split('?', 1)[0]!)));
  for (const [name, value] of Object.entries(problemHeaders(error))) response.setHeader(name, value);
  response.setHeader('Content-Length', body.length);
  response.statusCode = error.status;
  response.end(body);
}

/** The caller hears nothing of the cause; the log finds it by the id. */
export function reportUnexpected(
  logger: Logger,
  error: DomainError,
  { method, url }: IncomingMessage,
  requestId: string,
): void {
  const path = url?.split('?', 1)[0];
  logger.error(
    { requestId, method, path, err: error.options.cause ?? error },
    'a request failed unexpectedly',
  );
}
