import type { Request, Response } from 'express';
import type { DomainError } from '../../errors/domain-error.js';
import { isRequestId } from '../../queue/submit/request-id.js';
import { answerJsonError } from '../json-error.js';
import { errorTypeOf, toFalError } from './fal-error.js';

export const requestIdField = 'X-Fal-Request-Id';

/** Sets the header that every answer about a request has. */
export function setRequestId(response: Response, id: unknown): void {
  if (typeof id === 'string' && isRequestId(id)) response.setHeader(requestIdField, id);
}

/** Answers in fal's format, because its clients do not read problem+json. */
export function answerFalError(error: DomainError, request: Request, response: Response): void {
  const { code, status: ownStatus, message, options } = error;
  const { status, body } = toFalError({ ...options, code, status: ownStatus, message });
  setRequestId(response, request.params['request_id']);
  if ('error_type' in body) {
    // A model may have any text there in its own body, also one that no header field can have.
    const own = String(body['error_type']);
    response.setHeader('X-Fal-Error-Type', /^[\x20-\x7E]{1,100}$/.test(own) ? own : errorTypeOf(error));
  }
  answerJsonError(error, response, status, body);
}
