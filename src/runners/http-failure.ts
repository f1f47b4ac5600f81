import { type Outage, RunFailure } from '../queue/runs/runner.js';
import { cleanText, parseJson } from '../tools/model-text.js';
import { readBeginning } from './answer-body.js';
import type { HttpAnswer } from './http-exchange.js';

const tryAgain = new Set([408, 425, 429, 500, 502, 503, 504]);
const outages = new Map<number, Outage>([
  [502, 'costly'],
  [503, 'free'],
  [504, 'costly'],
]);
const maxJsonBytes = 64 * 1024;
const maxTextLength = 8 * 1024;
const maxRetryAfterMs = 3_600_000;

interface Said {
  message?: string | undefined;
  details?: unknown;
  retryAfterMs?: number | undefined;
  outage?: Outage | undefined;
}

/** What a status without success means. */
export function statusFailure(
  status: number,
  { message = `The model answered ${status}.`, details, retryAfterMs, outage }: Said,
): RunFailure {
  const retryable = tryAgain.has(status);
  return new RunFailure(message, {
    code: outages.has(status) ? 'model_unavailable' : 'model_error',
    retryable,
    ...(retryable && retryAfterMs !== undefined && { retryAfterMs }),
    ...(outage !== undefined && { outage }),
    // A refusal is meant for the caller; a 5xx may hold a stack, and "try again" is not the caller's to obey.
    ...(isRefusal(status) && details !== undefined && { details }),
    ...(isRefusal(status) && !retryable && { status }),
  });
}

export async function failureOf({ status, headers, chunks }: HttpAnswer): Promise<RunFailure> {
  if (status >= 300 && status <= 399) {
    return new RunFailure(`The model answered ${status}: redirects are not followed.`);
  }
  const details = isRefusal(status) ? await readDetails(chunks) : undefined;
  const retryAfterMs = parseRetryAfter(headers['retry-after']);
  return statusFailure(status, { details, retryAfterMs, outage: outages.get(status) });
}

function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499;
}

async function readDetails(chunks: HttpAnswer['chunks']): Promise<unknown> {
  const text = (await readBeginning(chunks, maxJsonBytes)).toString('utf8');
  const json = parseJson(text);
  if (json !== undefined) return json.value;
  return text.trim() === '' ? undefined : cleanText(text, maxTextLength);
}

/** `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110), at most an hour; undefined: not usable. */
function parseRetryAfter(value = ''): number | undefined {
  const text = value.trim();
  let ms = NaN;
  if (/^\d+$/.test(text)) ms = Number(text) * 1_000;
  else if (/^[A-Z][a-z]{2},? /.test(text)) ms = Date.parse(text) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), maxRetryAfterMs);
}
