import type { Finish } from './queries/finish.js';
import { type RequestError, requestErrors } from '../request-errors.js';
import type { AttemptFailure, CompletedRequest } from '../request-events.js';
import { storable } from '../../tools/storable-text.js';
import type { Ending } from '../../tracing/tracing.js';
import type { EndingRun } from './ending-run.js';
import type { RunEnd } from './run-execution.js';
import { ResultUnstored, RunFailure } from './runner.js';

/** The data that is written when a run ends for good, and what else is published of it. */
export type RunFinish = Finish &
  Pick<CompletedRequest, 'modelId' | 'attempt' | 'runMs' | 'outputBytes'> &
  Pick<AttemptFailure, 'cause'>;

export function finishOf(run: EndingRun, end: RunEnd, nowMs: number): RunFinish {
  const { attempt, model, timeoutMs, runMs } = run;
  const { id: requestId, token } = run.claimed;
  const common = { requestId, token, output: null, message: null, modelId: model.id, attempt, runMs };
  if (end.kind === 'output') {
    const { output = null, bytes: outputBytes } = end;
    return { ...common, attemptOutcome: 'succeeded', output, outputBytes, error: null };
  }
  if (end.kind === 'aborted' && end.reason !== 'timed_out') {
    return { ...common, attemptOutcome: 'cancelled', error: requestErrors.cancelled(nowMs) };
  }
  const timedOut = end.kind === 'aborted';
  const error = timedOut ? requestErrors.timedOut(nowMs, timeoutMs) : toError(end.error, nowMs);
  const message = run.cappedLog.admit('ERROR', error.message, 'queue')?.message ?? null;
  const cause = timedOut ? undefined : causeOf(end.error);
  const said = { runMessage: runMessageOf(run, end), message, cause };
  return { ...common, attemptOutcome: timedOut ? 'timed_out' : 'failed', error, ...said };
}

export function toCompleted(finish: RunFinish): CompletedRequest {
  const { requestId: id, modelId, attempt, runMs, attemptOutcome, outputBytes, error, cause } = finish;
  const outcome = attemptOutcome === 'timed_out' ? 'failed' : attemptOutcome;
  const failure =
    outcome === 'failed' && error !== null
      ? { code: error.code, message: error.message, status: error.status, cause }
      : undefined;
  return { id, modelId, outcome, attempt, attemptOutcome, runMs, outputBytes, failure };
}

function toError(error: unknown, nowMs: number): RequestError {
  const { message, options } = asRunFailure(error);
  return requestErrors.failed(options.code, storable(message), nowMs, options);
}

/** Returns the failure of a run that another attempt may follow. */
export function toAttemptFailure({ timeoutMs }: EndingRun, end: RunEnd): AttemptFailure {
  if (end.kind !== 'failure') {
    const { code, message } = requestErrors.timedOut(0, timeoutMs);
    return { code, message };
  }
  const { message, options } = asRunFailure(end.error);
  return { code: options.code, message, cause: causeOf(end.error) };
}

/** Returns the message that the row of the attempt keeps for operators. */
export function runMessageOf({ timeoutMs }: EndingRun, end: RunEnd): string {
  if (end.kind !== 'failure') return requestErrors.timedOut(0, timeoutMs).message;
  return storable(asRunFailure(end.error).fullMessage);
}

/** Returns the unexpected error of a runner; undefined: it reported a failure. */
function causeOf(error: unknown): Error | undefined {
  if (error instanceof RunFailure) return undefined;
  return error instanceof Error ? error : new Error(String(error));
}

/** Returns the failure that a runner rejected with. Any other error becomes a failure that may be retried. */
export function asRunFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  return new RunFailure('The runner broke.', { code: 'model_error', retryable: true, cause: error });
}

/** Returns the end as its span records it. */
export function endingOf(end: RunEnd): Ending {
  if (end.kind === 'output') return {};
  if (end.kind === 'failure' && end.error instanceof ResultUnstored)
    return { attributes: { 'nowserving.ended': 'returned' } };
  if (end.kind === 'failure') return { error: asRunFailure(end.error).options.code };
  return end.reason === 'timed_out'
    ? { error: end.reason }
    : { attributes: { 'nowserving.ended': end.reason } };
}
