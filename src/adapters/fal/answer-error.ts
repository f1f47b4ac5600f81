import type { Request, Response } from 'express';
import type { DomainError } from '../../errors/domain-error.js';
import { answeredCodes, problemHeaders } from '../../http/problem.js';
import { endAfterBody } from '../../http/unread-body.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { toFalError } from './fal-error.js';

export const requestIdField = 'X-Fal-Request-Id';

/** Sets the header that every answer about a request has. */
export function setRequestId(response: Response, id: unknown): void {
  if (typeof id === 'string' && isRequestId(id)) response.setHeader(requestIdField, id);
}

/** Answers in fal's format, because its clients do not read problem+json. */
export function answerFalError(error: DomainError, request: Request, response: Response): void {
  answeredCodes.set(response, error.code);
  const { code, status: ownStatus, message, options } = error;
  const { status, body } = toFalError({ ...options, code, status: ownStatus, message });
  const bytes = Buffer.from(JSON.stringify(body));
  response.setHeaders(new Map(Object.entries(problemHeaders(error))));
  setRequestId(response, request.params['request_id']);
  if (typeof body['error_type'] === 'string') response.setHeader('X-Fal-Error-Type', body['error_type']);
  response
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .setHeader('Content-Length', bytes.length);
  response.statusCode = status;
  endAfterBody(response, bytes);
}
