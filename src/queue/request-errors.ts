import { type ProblemCode, problemCodes } from '../errors/problem-codes.js';

/** The error of a request that did not succeed, stored in `request.error`. */
export interface RequestError {
  code: string;
  status: number;
  message: string;
  /** ISO 8601 UTC with milliseconds. */
  timestamp: string;
  details?: unknown;
}

function requestError(
  code: ProblemCode,
  message: string,
  atMs: number,
  { status = problemCodes[code].status, details }: { status?: number; details?: unknown } = {},
): RequestError {
  const timestamp = new Date(atMs).toISOString();
  return { code, status, message, timestamp, ...(details !== undefined && { details }) };
}

const nodeLost = 'The nodes that ran the request stopped working each time; it is not tried again.';

const workerLost = 'The workers that ran the request were lost each time; it is not tried again.';

/** The errors that requests end with; `atMs` is the database's time. */
export const requestErrors = {
  cancelled: (atMs: number) => requestError('cancelled', 'The request was cancelled.', atMs),
  expired: (atMs: number) => requestError('expired', 'The request did not start before it expired.', atMs),
  timedOut: (atMs: number, timeoutMs: number) =>
    requestError('timed_out', `The run took longer than the ${timeoutMs / 1000} s that it may take.`, atMs),
  nodeLost: (atMs: number) => requestError('node_lost', nodeLost, atMs),
  workerLost: (atMs: number) => requestError('worker_lost', workerLost, atMs),
  failed: requestError,
};

/** Statuses by which a model complains about its address, its credentials or its quota, which are the operator's. */
export const statusesOfOperators = [401, 402, 403, 404, 405, 407, 410];

/** True if the model refused the input for good: the caller's input is at fault, neither the model nor the service. */
export const isInputRefusal = ({
  code,
  status = 0,
}: {
  code: string;
  status?: number | undefined;
}): boolean =>
  code === 'model_error' && status >= 400 && status <= 499 && !statusesOfOperators.includes(status);
