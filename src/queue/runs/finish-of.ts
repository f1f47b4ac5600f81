import type { Finish } from '../queries/finish.js';
import { requestErrors } from '../request-errors.js';
import type { AttemptFailure, CompletedRequest } from '../request-events.js';
import type { RunEnd, RunExecution } from './run-execution.js';
import { storable } from './run-log.js';
import { RunFailure } from './runner.js';

/** What is to be written when a run ends for good, and what is published after that. */
export interface RunFinish extends Finish {
  completed: CompletedRequest;
}

export function finishOf(execution: RunExecution, end: RunEnd, nowMs: number): RunFinish {
  const { claimed, model, runMs } = execution;
  const { id, token, attempt } = claimed;
  const common = { requestId: id, token, output: null, message: null };
  const completed = { id, modelId: model.id, attempt, runMs };
  if (end.kind === 'output') {
    const outcome = 'succeeded';
    return {
      ...common,
      attemptOutcome: outcome,
      output: end.output,
      error: null,
      completed: { ...completed, outcome },
    };
  }
  if (end.kind === 'aborted' && end.reason !== 'timed_out') {
    const outcome = 'cancelled';
    const error = requestErrors.cancelled(nowMs);
    return { ...common, attemptOutcome: outcome, error, completed: { ...completed, outcome } };
  }
  const timedOut = end.kind === 'aborted';
  const error = timedOut ? requestErrors.timedOut(nowMs, model.timeoutMs) : errorOf(end.error, nowMs);
  const message = execution.cappedLog.admit('ERROR', error.message, 'queue')?.message ?? null;
  const failure = timedOut ? error : toAttemptFailure(end.error);
  return {
    ...common,
    attemptOutcome: timedOut ? 'timed_out' : 'failed',
    error,
    message,
    completed: { ...completed, outcome: 'failed', failure },
  };
}

export function toAttemptFailure(error: unknown): AttemptFailure {
  const failure = asRunFailure(error);
  const { message, options } = failure;
  return { code: options.code, message, ...(failure === error ? {} : { cause: error }) };
}

/** What a runner rejected with, as a failure; anything it did not choose itself may be tried again. */
export function asRunFailure(error: unknown): RunFailure {
  if (error instanceof RunFailure) return error;
  return new RunFailure('The runner broke.', { code: 'model_error', retryable: true, cause: error });
}

function errorOf(cause: unknown, nowMs: number): NonNullable<Finish['error']> {
  const { message, options } = asRunFailure(cause);
  return requestErrors.failed(options.code, storable(message), nowMs, {
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.details === undefined ? {} : { details: options.details }),
  });
}
