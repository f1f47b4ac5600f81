import type { Request, Response } from 'express';
import { DomainError, type FieldError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { isObject } from '../../http/input/json-body.js';
import { clientStatus } from '../client-status.js';
import { failureMessage } from '../failure-message.js';
import { answerJsonError } from '../json-error.js';

/** The codes for which OpenAI has another name or status. */
const kinds: Partial<Record<string, { status?: number; code: string | null }>> = {
  bad_request: { code: null },
  invalid_json: { code: null },
  invalid_query: { code: null },
  invalid_input: { status: 400, code: null },
  missing_key: { code: null },
  invalid_key: { code: 'invalid_api_key' },
  unknown_model: { code: 'model_not_found' },
  gone: { status: 404, code: 'gone' },
  rate_limited: { code: 'rate_limit_exceeded' },
  queue_full: { code: 'rate_limit_exceeded' },
  caller_busy: { code: 'rate_limit_exceeded' },
} satisfies Partial<Record<ProblemCode, { status?: number; code: string | null }>>;

export interface OpenAiError {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

interface ReportedError {
  code: string;
  status: number;
  message: string;
  details?: unknown;
  errors?: FieldError[] | undefined;
}

/**
 * Returns the status and the error object of an error. A model's own error object passes unchanged. The text of a
 * refusal in another form is appended to the message.
 */
export function toOpenAiError(reported: ReportedError): { status: number; error: object } {
  const { code, message, details, errors = [] } = reported;
  const status = kinds[code]?.status ?? clientStatus(reported);
  if (code === 'model_error' && isObject(details) && isObject(details['error']))
    return { status, error: details['error'] };
  const error: OpenAiError = {
    message: [failureMessage({ message, details }), ...errors.map(faultOf)].join(' '),
    type: typeOf(status),
    param: errors[0] === undefined ? null : paramOf(errors[0]),
    code: kinds[code] === undefined ? code : kinds[code].code,
  };
  return { status, error };
}

/** Returns the error for a member of a body, or for a field of a form. */
export const wrongAt = (path: string, message: string): DomainError =>
  new DomainError('invalid_input', 'The call cannot be accepted.', {
    errors: [{ path: `/${path}`, message }],
  });

/** Answers in OpenAI's form. */
export function answerOpenAiError(reported: DomainError, _request: Request, response: Response): void {
  const { code, status: ownStatus, message, options } = reported;
  const { status, error } = toOpenAiError({ ...options, code, status: ownStatus, message });
  // Without this header the client would repeat the call, which cannot succeed in the current state.
  if (status === 409) response.setHeader('X-Should-Retry', 'false');
  answerJsonError(reported, response, status, { error });
}

function typeOf(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}

const faultOf = ({ path, message }: FieldError): string => `${path === '' ? 'The input' : path} ${message}.`;

/** `/messages/0/content` → `messages[0].content` */
function paramOf({ path }: FieldError): string | null {
  if (path === '') return null;
  const names = path.split('/').slice(1);
  const written = names.map((name) => {
    const text = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return /^\d{1,9}$/.test(text) ? `[${text}]` : `.${text}`;
  });
  return written.join('').replace(/^\./, '');
}
