import type { Request, Response } from 'express';
import type { DomainError } from '../../errors/domain-error.js';
import { clientStatus } from '../client-status.js';
import { answerJsonError } from '../json-error.js';

/** Runpod's clients read the status. The Python client tries again after 408 and 429. */
export function answerRunpodError(error: DomainError, _request: Request, response: Response): void {
  const { code, message, options } = error;
  answerJsonError(error, response, clientStatus(error), { error: message, code, errors: options.errors });
}
