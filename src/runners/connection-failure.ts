import { RunFailure } from '../queue/runner.js';

/** A connection that was refused, could not be made, or broke. The error's own message may name addresses. */
export function connectionFailure(error: NodeJS.ErrnoException): RunFailure {
  const code = /^[A-Z][A-Z0-9_]{2,60}$/.test(error.code ?? '') ? ` (${error.code})` : '';
  return new RunFailure(`The connection to the model could not be made, or broke${code}.`, {
    code: 'model_unavailable',
    retryable: true,
  });
}
