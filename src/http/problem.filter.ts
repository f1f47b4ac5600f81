import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { DomainError } from '../errors/domain-error.js';
import { PINO } from './logging.module.js';
import { answerProblem, toAnswer } from './problem.js';
import { requestIdOf } from './request-id.js';
import { servedMethods } from './served-methods.js';

/** Answers every error of every route, known or not, as problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(PINO) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toAnswer(thrown, request, response, requestIdOf(response), this.logger);
    if (error?.code === 'not_found') answerUnrouted(error, request, response);
    else if (error !== undefined) answerProblem(error, request.originalUrl, response);
  }
}

/** A known path under another method is distinguished from a path that is not served. */
function answerUnrouted(cause: DomainError, { app, method, originalUrl }: Request, response: Response): void {
  const path = originalUrl.split('?', 1)[0]!;
  const methods = servedMethods(app, path);
  if (methods.length === 0) {
    const error = new DomainError('not_found', `Nothing is served at ${path}.`, { cause });
    return answerProblem(error, path, response);
  }
  response.setHeader('Allow', methods.join(', '));
  if (method === 'OPTIONS') return void response.status(204).end();
  const detail = `${path} takes ${methods.join(', ')}, not ${method}.`;
  answerProblem(new DomainError('method_not_allowed', detail), path, response);
}
