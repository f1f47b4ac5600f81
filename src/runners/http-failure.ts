import { type RunFailureOptions, RunFailure } from '../queue/runs/runner.js';
import { readBeginning } from './bounded-body.js';
import type { HttpAnswer } from './http-exchange.js';
import { parseJson } from './json-text.js';
import { parseRetryAfter } from './retry-after.js';

const tryAgain = new Set([408, 425, 429, 500, 502, 503, 504]);
const notThere = new Set([502, 503, 504]);
const maxJsonBytes = 64 * 1024;
const maxTextLength = 8 * 1024;

/** What an answer without success means. */
export async function failureOf(answer: HttpAnswer): Promise<RunFailure> {
  const { status } = answer;
  if (status >= 300 && status <= 399) {
    return new RunFailure(`The model answered ${status}: redirects are not followed.`, {
      code: 'model_error',
      retryable: false,
    });
  }
  const retryable = tryAgain.has(status);
  const options: RunFailureOptions = {
    code: notThere.has(status) ? 'model_unavailable' : 'model_error',
    retryable,
  };
  const retryAfterMs = parseRetryAfter(answer.headers['retry-after']);
  if (retryable && retryAfterMs !== undefined) options.retryAfterMs = retryAfterMs;
  if (status >= 400 && status <= 499) {
    // A refusal is meant for the caller; a 5xx may hold a stack, and "try again" is not the caller's to obey.
    const details = await readDetails(answer);
    if (details !== undefined) options.details = details;
    if (!retryable) options.status = status;
  }
  return new RunFailure(`The model answered ${status}.`, options);
}

/** What the model said: JSON, or else the beginning of its text. */
async function readDetails({ chunks }: HttpAnswer): Promise<unknown> {
  const text = (await readBeginning(chunks, maxJsonBytes)).toString('utf8');
  const json = parseJson(text);
  if (json !== undefined) return json.value;
  return text.trim() === '' ? undefined : cleanText(text, maxTextLength);
}

/** What a model said, as text that PostgreSQL can hold: no NUL, no lone surrogates, not longer than asked. */
export function cleanText(text: string, maxLength: number): string {
  const kept = text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
  return kept.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}
