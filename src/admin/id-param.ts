import { validate as isUuid } from 'uuid';
import { DomainError } from '../errors/domain-error.js';

/** An id in a path, in lower case; what is none names nothing. */
export function idOf(kind: string, text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new DomainError('unknown_id', `There is no ${kind} ${text.slice(0, 64)}.`);
}
