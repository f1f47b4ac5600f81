import type { FieldError } from '../../errors/domain-error.js';
import type { ProblemCode } from '../../errors/problem-codes.js';
import { clientStatus } from '../client-status.js';

/** The codes for which fal uses its own name or another status. */
const kinds: Partial<Record<string, { type: string; status?: number }>> = {
  bad_request: { type: 'bad_request' },
  invalid_json: { type: 'bad_request' },
  invalid_query: { type: 'bad_request' },
  invalid_idempotency_key: { type: 'bad_request' },
  cancelled: { type: 'client_cancelled' },
  expired: { type: 'startup_timeout' },
  timed_out: { type: 'request_timeout' },
  model_error: { type: 'runner_server_error', status: 500 },
  model_unavailable: { type: 'runner_connection_error', status: 503 },
  node_lost: { type: 'runner_disconnected', status: 503 },
  worker_lost: { type: 'runner_disconnected', status: 503 },
} satisfies Partial<Record<ProblemCode, { type: string; status?: number }>>;

interface AnyError {
  code: string;
  status: number;
}

interface ReportedError extends AnyError {
  message: string;
  details?: unknown;
  errors?: FieldError[] | undefined;
}

export interface FalError {
  status: number;
  body: Readonly<Record<string, unknown>>;
}

/** Returns whether a model refused its input. */
const isRefusal = ({ code, status }: AnyError): boolean => code === 'model_error' && status < 500;

/** Other errors are named after their code. */
export function errorTypeOf(error: AnyError): string {
  return isRefusal(error) ? 'bad_request' : (kinds[error.code]?.type ?? error.code);
}

export function toFalError(error: ReportedError): FalError {
  const { code, status, message: detail, details, errors = [] } = error;
  if (isRefusal(error)) return { status, body: ofModel(details, detail) };
  switch (code) {
    case 'not_completed':
      return { status, body: { detail: 'Request is still in progress' } };
    case 'already_completed':
      return { status, body: { status: 'ALREADY_COMPLETED', detail } };
    case 'unknown_request':
      return { status, body: { status: 'NOT_FOUND', detail } };
    case 'invalid_input':
      return { status, body: { detail: errors.map(toFieldError) } };
    default:
      return {
        status: kinds[code]?.status ?? clientStatus(error),
        body: { detail, error_type: errorTypeOf(error) },
      };
  }
}

/** Passes the model's own details through, and adds a `detail` if there is none. */
function ofModel(details: unknown, message: string): Record<string, unknown> {
  if (typeof details === 'string' || Array.isArray(details)) return { detail: details };
  return { detail: message, ...(details as object | undefined) };
}

/** Returns the path to the value, starting at the body, as FastAPI does. */
function toFieldError({ path, message: msg }: FieldError): object {
  const names = path.split('/').slice(1);
  const loc = names.map((name) => {
    const text = name.replaceAll('~1', '/').replaceAll('~0', '~');
    return /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text;
  });
  return { loc: ['body', ...loc], msg, type: 'value_error' };
}
