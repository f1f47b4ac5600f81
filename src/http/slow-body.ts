import { DomainError } from '../errors/domain-error.js';

/** Emitted on a request whose body arrives too slowly. The reader of the body answers 408. */
export const slowBody = Symbol('slowBody');

export function tooSlow(): DomainError {
  const detail = 'The body arrives more slowly than 16 KiB a second, or not at all. Send it again.';
  return new DomainError('too_slow', detail);
}
