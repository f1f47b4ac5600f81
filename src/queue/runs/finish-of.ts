import type { Finish } from '../queries/finish.js';
import { requestErrors } from '../request-errors.js';
import type { RunEnd, RunExecution } from './run-execution.js';
import { storable } from './run-log.js';
import { RunFailure } from './runner.js';

/** What is to be written when a run ends for good. */
export function finishOf(execution: RunExecution, end: RunEnd, nowMs: number): Finish {
  const { claimed, model } = execution;
  const common = { requestId: claimed.id, token: claimed.token, output: null, message: null };
  if (end.kind === 'output') {
    return { ...common, attemptOutcome: 'succeeded', output: end.output, error: null };
  }
  if (end.kind === 'aborted' && end.reason !== 'timed_out') {
    const error = requestErrors.cancelled(nowMs);
    return { ...common, attemptOutcome: 'cancelled', error };
  }
  const timedOut = end.kind === 'aborted';
  const error = timedOut ? requestErrors.timedOut(nowMs, model.timeoutMs) : errorOf(end.error, nowMs);
  const message = execution.cappedLog.admit('ERROR', error.message, 'queue')?.message ?? null;
  return { ...common, attemptOutcome: timedOut ? 'timed_out' : 'failed', error, message };
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
