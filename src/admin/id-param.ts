import { validate as isUuid } from 'uuid';
import { DomainError } from '../errors/domain-error.js';

/** Returns an id from a path in lower case. Throws `unknown_id` if the text is no id. */
export function idOf(kind: string, text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new DomainError('unknown_id', `There is no ${kind} ${text.slice(0, 64)}.`);
}
