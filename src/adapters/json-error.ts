import type { Response } from 'express';
import type { DomainError } from '../errors/domain-error.js';
import { answeredCodes, problemHeaders } from '../http/problem.js';
import { endAfterBody } from '../http/unread-body.js';

/** Answers an error as JSON in the form of another API. Header fields that are set already stay. */
export function answerJsonError(error: DomainError, response: Response, status: number, body: object): void {
  answeredCodes.set(response, error.code);
  const bytes = Buffer.from(JSON.stringify(body));
  response
    .setHeaders(new Map(Object.entries(problemHeaders(error))))
    .setHeader('Content-Type', 'application/json; charset=utf-8')
    .setHeader('Content-Length', bytes.length);
  response.statusCode = status;
  endAfterBody(response, bytes);
}
