import type { Request, Response } from 'express';
import type { DomainError } from '../../errors/domain-error.js';
import { problemCodes } from '../../errors/problem-codes.js';
import { clientStatus } from '../client-status.js';
import { answerJsonError } from '../json-error.js';

/** Replicate's clients read the status, try again after 429, and show the body. */
export function answerReplicateError(error: DomainError, _request: Request, response: Response): void {
  const { code, message, options } = error;
  const status = clientStatus(error);
  const invalid_fields = options.errors?.map(({ path, message: description }) => ({
    field: `input${path.replaceAll('/', '.')}`,
    description,
  }));
  // The Python client shows no `invalid_fields`.
  const faults = (invalid_fields ?? []).map(({ field, description }) => `\n- ${field} ${description}`);
  const detail = message + faults.join('');
  const body = { type: code, title: problemCodes[code].title, status, detail, invalid_fields };
  answerJsonError(error, response, status, body);
}
