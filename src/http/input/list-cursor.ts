import { createHash } from 'node:crypto';
import { DomainError } from '../../errors/domain-error.js';
import { isStorable } from '../../tools/storable-text.js';

/** The query that began a list, as written, and the position at which its last page ended. */
interface Cursor {
  query: object;
  position: string;
}

const sumLength = 16;

/** `list`: the path of the list. */
export function encodeCursor(list: string, { query, position }: Cursor): string {
  const text = Buffer.from(JSON.stringify([position, query])).toString('base64url');
  return checksum(list, text) + text;
}

/**
 * The checksum shows that a cursor was cut, edited, or taken from another list. Its content is checked as a query is.
 */
export function decodeCursor(list: string, cursor: unknown): Cursor {
  if (typeof cursor !== 'string') throw invalidCursor();
  const text = cursor.slice(sumLength);
  if (cursor.slice(0, sumLength) !== checksum(list, text)) throw invalidCursor();
  const { position, query } = read(text);
  if (typeof position !== 'string' || !isStorable(position)) throw invalidCursor();
  if (typeof query !== 'object' || query === null || !Object.values(query).every(isOptionValue))
    throw invalidCursor();
  return { query, position };
}

/** The value of an option in a query: a text, or a list of texts if it was given several times. */
const isOptionValue = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));

/** A caller that knows how the checksum is made may have made up the rest. */
function read(text: string): { position?: unknown; query?: unknown } {
  try {
    const [position, query] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    return { position, query };
  } catch {
    return {};
  }
}

function checksum(list: string, text: string): string {
  return createHash('sha256').update(`${list} ${text}`).digest('base64url').slice(0, sumLength);
}

export function invalidCursor(): DomainError {
  const detail = 'The option "cursor" is not one that this list returned to this key. Start the list again.';
  return new DomainError('invalid_query', detail);
}
