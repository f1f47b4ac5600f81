import { createHash } from 'node:crypto';
import { DomainError } from '../errors/domain-error.js';
import { isRequestId } from '../queue/submit/request-id.js';

/** Where a list goes on: the query that began it, as written, and the last request that was looked at. */
interface Cursor {
  query: object;
  lastId: string;
}

const sumLength = 16;

export function encodeCursor(keyId: string, { query, lastId }: Cursor): string {
  const text = Buffer.from(JSON.stringify([lastId, query])).toString('base64url');
  return checksum(keyId, text) + text;
}

/** The checksum shows that a cursor was cut or mended, or is another key's; what is in it is checked as a query is. */
export function decodeCursor(keyId: string, cursor: string): Cursor {
  const text = cursor.slice(sumLength);
  if (cursor.slice(0, sumLength) !== checksum(keyId, text)) throw invalid();
  const [lastId, query] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [string, object];
  if (!isRequestId(lastId)) throw invalid();
  return { query, lastId };
}

function checksum(keyId: string, text: string): string {
  return createHash('sha256').update(`${keyId} ${text}`).digest('base64url').slice(0, sumLength);
}

function invalid(): DomainError {
  return new DomainError(
    'invalid_query',
    'The option "cursor" is none that a list of this key gave. Begin the list anew.',
  );
}
