import { DomainError } from '../errors/domain-error.js';

/** `logs`: `1`/`true` on, `0`/`false`/absent off; anything else is an error of the caller. */
export function parseLogsQuery(value: unknown): boolean {
  if (value === undefined || value === '0' || value === 'false') return false;
  if (value === '1' || value === 'true') return true;
  throw new DomainError('invalid_query', 'The query parameter "logs" takes 1, true, 0 or false, once.');
}
