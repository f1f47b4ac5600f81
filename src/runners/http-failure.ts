import { type Chunks, readBeginning } from '../outgoing/answer-body.js';
import { CallFailure } from '../outgoing/call-failure.js';
import type { Answer } from '../outgoing/outgoing.js';
import { parseHttpDate, parseRetryAfter } from '../outgoing/retry-after.js';
import { type Outage, RunFailure } from '../queue/runs/runner.js';
import { messageIn } from '../tools/model-message.js';
import { cleanText, parseJson } from '../tools/storable-text.js';

const tryAgain = new Set([408, 425, 429, 500, 502, 503, 504]);
const outages = new Map<number, Outage>([
  [502, 'costly'],
  [503, 'free'],
  [504, 'costly'],
]);
const maxJsonBytes = 64 * 1024;
const maxTextLength = 8 * 1024;
const maxRetryAfterMs = 3_600_000;
/** Time limit for reading the body of an answer that the status already decides. */
const maxWordsMs = 1_000;
/** The same for a final refusal. Its body is for the caller, and no other attempt follows. */
const maxRefusalMs = 5_000;

/** The answer of a model. Its chunks fail with what `breakOf` returns. */
export interface HttpAnswer extends Omit<Answer, 'body'> {
  chunks: Chunks;
}

interface Said {
  message?: string | undefined;
  modelMessage?: string | undefined;
  details?: unknown;
  retryAfterMs?: number | undefined;
  outage?: Outage | undefined;
  isPrompt?: boolean;
}

/** Returns the failure for a connection that could not be made, or broke. Other errors are returned as they are. */
export function breakOf(error: unknown, signal: AbortSignal): unknown {
  if (!(error instanceof CallFailure)) return error;
  if (signal.aborted) return new Error(`the run was stopped: ${String(signal.reason)}`);
  const { wasConnected, codeWords } = error;
  return new RunFailure(
    `The connection to the model ${wasConnected ? 'broke' : 'could not be made'}${codeWords}.`,
    { code: 'model_unavailable', retryable: true, outage: wasConnected ? 'costly' : 'free' },
  );
}

/** Returns the failure for an error status. */
export function statusFailure(
  status: number,
  { message = `The model answered ${status}.`, modelMessage, details, retryAfterMs, outage, isPrompt }: Said,
): RunFailure {
  const retryable = isRetryable(status, outage);
  return new RunFailure(message, {
    code: outage !== undefined || outages.has(status) ? 'model_unavailable' : 'model_error',
    retryable,
    ...(retryable && retryAfterMs !== undefined && { retryAfterMs }),
    ...(outage !== undefined && { outage }),
    ...(outage === 'costly' && isPrompt === true && { isPrompt }),
    ...(modelMessage !== undefined && { modelMessage }),
    // A refusal is meant for the caller. A 5xx may contain a stack, and the caller need not act on "try again".
    ...(isRefusal(status) && details !== undefined && { details }),
    ...(isRefusal(status) && !retryable && { status }),
  });
}

/**
 * `mapped`: the meaning of the status by the model's mapping; undefined: the mapping does not name it. `isPrompt`: the
 * answer came as soon as that of a proxy whose server is down.
 */
export async function failureOf(answer: HttpAnswer, mapped?: Outage, isPrompt = false): Promise<RunFailure> {
  const { status, headers } = answer;
  if (status < 300 && mapped === undefined) {
    const why = 'only 200 with the whole output is a success';
    const follow = 'If the answer promises an output, set "follow" of the runner in models.yaml';
    return new RunFailure(`The model answered ${status}: ${why}. ${follow}.`);
  }
  if (status >= 300 && status <= 399 && mapped === undefined) {
    return new RunFailure(`The model answered ${status}: redirects are not followed.`);
  }
  const outage = mapped ?? outages.get(status);
  const isFinalRefusal = isRefusal(status) && !isRetryable(status, outage);
  const text = await readWords(answer, isFinalRefusal ? maxRefusalMs : maxWordsMs);
  const json = parseJson(text);
  const details = json === undefined ? cleanText(text, maxTextLength) : json.value;
  const modelMessage = messageIn(json === undefined ? text : json.value);
  return statusFailure(status, {
    ...(text.trim() !== '' && { details }),
    modelMessage,
    retryAfterMs: retryAfterOf(headers),
    outage,
    isPrompt,
  });
}

/** Returns how long the model asks to wait; undefined: it does not. */
export function retryAfterOf({ 'retry-after': asked, date = '' }: HttpAnswer['headers']): number | undefined {
  // A date is compared with the model's own clock, if the answer has a `Date`.
  const askedMs = parseRetryAfter(asked, parseHttpDate(date) || Date.now());
  return askedMs && Math.min(askedMs, maxRetryAfterMs);
}

function isRefusal(status: number): boolean {
  return status >= 400 && status <= 499;
}

function isRetryable(status: number, outage: Outage | undefined): boolean {
  return outage !== undefined || tryAgain.has(status);
}

async function readWords(answer: HttpAnswer, maxMs: number): Promise<string> {
  const timer = setTimeout(() => answer.close(), maxMs);
  const words = await readBeginning(answer.chunks, maxJsonBytes);
  clearTimeout(timer);
  return words.toString('utf8');
}
