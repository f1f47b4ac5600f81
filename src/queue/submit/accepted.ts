import { DomainError } from '../../errors/domain-error.js';
import type { Known } from '../queries/submit-once.js';
import type { Submitted } from '../queries/submit.js';

export interface Idempotency {
  key: string;
  fingerprint: Buffer;
}

export interface Accepted {
  id: string;
  /** True: the request existed already, and this is a repetition of its submission. */
  replayed: boolean;
}

/** `fingerprint`: of this submission; if the request is new, it does not matter. */
export function acceptedOf(result: Submitted | Known | Error, fingerprint?: Buffer): Accepted | DomainError {
  if (result instanceof Error) throw result;
  if ('seq' in result) return { id: result.id, replayed: false };
  if (fingerprint?.equals(result.fingerprint) === true) return { id: result.id, replayed: true };
  return new DomainError(
    'idempotency_key_reused',
    'This Idempotency-Key was used for another model, body, options or call within the last 24 hours. Use a new key.',
  );
}

export function acceptedOrThrow(result: Submitted | Known | Error, fingerprint?: Buffer): Accepted {
  const accepted = acceptedOf(result, fingerprint);
  if (accepted instanceof DomainError) throw accepted;
  return accepted;
}

/** Returns the result for other submissions with the idempotency key of the first, which `result` is about. */
export function repeatedOf(result: Submitted | Known | Error, first: Buffer): Known | Error {
  return 'seq' in result ? { id: result.id, fingerprint: first } : result;
}
