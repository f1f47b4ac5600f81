import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { DomainError } from '../errors/domain-error.js';
import { allowedMethods } from './allowed-methods.js';
import { PINO } from './quiet-nest-logger.js';
import { answerProblem, reportUnexpected } from './problem-answer.js';
import { requestIdOf } from './request-id.js';
import { toDomainError } from './to-domain-error.js';

/** Answers every error of every route, known or not, as problem+json. */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(@Inject(PINO) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toDomainError(thrown);
    if (error.code === 'internal_error') reportUnexpected(this.logger, error, request, requestIdOf(response));
    if (response.headersSent) {
      if (!response.writableEnded) response.destroy();
    } else if (error.code === 'not_found') {
      this.answerUnrouted(error, request, response);
    } else {
      answer(error, request, response);
    }
  }

  /** A known path under another method is distinguished from a path that is not served. */
  private answerUnrouted(error: DomainError, request: Request, response: Response): void {
    const path = request.originalUrl.split('?', 1)[0]!;
    const allowed = allowedMethods(request.app, path);
    if (allowed.length === 0) {
      answer(
        new DomainError('not_found', `Nothing is served at ${path}.`, { cause: error }),
        request,
        response,
      );
      return;
    }
    response.setHeader('Allow', allowed.join(', '));
    if (request.method === 'OPTIONS') {
      response.status(204).end();
      return;
    }
    const detail = `${path} takes ${allowed.join(', ')}, not ${request.method}.`;
    answer(new DomainError('method_not_allowed', detail), request, response);
  }
}

function answer(error: DomainError, request: Request, response: Response): void {
  response.locals['problemCode'] = error.code;
  answerProblem(error, request.originalUrl, response);
}
