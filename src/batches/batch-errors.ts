import { DomainError } from '../errors/domain-error.js';
import { problemCodes } from '../errors/problem-codes.js';
import type { BatchStatus } from './batch.js';
import type { LineError } from './line-formats.js';

/** The errors of lines that were not done when their batch ended. */
export const endErrors: Readonly<Record<'cancelled' | 'expired', LineError>> = {
  cancelled: {
    code: 'batch_cancelled',
    message: 'The batch was cancelled before this line was done.',
    status: problemCodes.cancelled.status,
  },
  expired: {
    code: 'batch_expired',
    message: 'The batch expired before this line was done.',
    status: problemCodes.expired.status,
  },
};

/** The error of a line whose request has no output any more. */
export const goneError: LineError = {
  code: 'gone',
  message: 'The output of the request was deleted before it was written to the file of the batch.',
  status: problemCodes.gone.status,
};

/** Stands in the file of a batch for the line of a request that was erased later. */
export const erasedError: LineError = {
  code: 'gone',
  message: 'The request was erased.',
  status: problemCodes.gone.status,
};

/** True: the error is a fault of the line. Any other error is temporary, or a bug. */
export function isOfLine(error: unknown): error is DomainError {
  return error instanceof DomainError && error.code !== 'unavailable';
}

/** Returns the error of a line that the rules for submissions refuse. */
export function refusedError({ code, status, message, options: { errors } }: DomainError): LineError {
  return { code, status, message, ...(errors !== undefined && { details: { errors } }) };
}

export function unknownBatch(): DomainError {
  return new DomainError('batch_not_found', 'There is no such batch, or it belongs to another key.');
}

/** A batch that was cancelled may be cancelled again. */
export function assertCancellable(status: BatchStatus): void {
  if (status !== 'completed' && status !== 'failed' && status !== 'expired') return;
  throw new DomainError('batch_ended', `The batch has ended as ${status}; there is nothing left to cancel.`);
}
