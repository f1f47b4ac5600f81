import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { PINO } from '../http/logging.module.js';
import { answeredCodes, problemHeaders, toAnswer } from '../http/problem.js';
import { sendReply } from '../http/reply.js';
import { requestIdOf } from '../http/request-id.js';
import { isRequestId } from '../queue/submit/request-id.js';
import { toFalError } from './fal-error.js';

export const requestIdField = 'X-Fal-Request-Id';

/** On every answer about a request. */
export function setRequestId(response: Response, id: unknown): void {
  if (typeof id === 'string' && isRequestId(id)) response.setHeader(requestIdField, id);
}

/** Answers the errors of the adapter's routes in fal's form: its clients read no problem+json. */
@Catch()
export class FalFilter implements ExceptionFilter {
  constructor(@Inject(PINO) private readonly logger: Logger) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const error = toAnswer(thrown, request, response, requestIdOf(response), this.logger);
    if (error === undefined) return;
    answeredCodes.set(response, error.code);
    const { code, status: ownStatus, message, options } = error;
    const { status, body } = toFalError({ ...options, code, status: ownStatus, message });
    response.setHeaders(new Map(Object.entries(problemHeaders(error))));
    setRequestId(response, request.params['request_id']);
    if (typeof body['error_type'] === 'string') response.setHeader('X-Fal-Error-Type', body['error_type']);
    sendReply(response, { status, body: JSON.stringify(body) });
  }
}
