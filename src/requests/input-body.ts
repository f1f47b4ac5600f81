import { DomainError } from '../errors/domain-error.js';
import { isDeeperThan } from '../tools/json-scanner.js';
import { findBadEscape, findPointer } from './json-faults.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const maxDepth = 200;
/** Names in a path are the caller's, and may be as long as the body. */
const maxPathLength = 500;

export interface InputBody {
  /** As the caller wrote it: numbers beyond 2^53, the order and spelling of its members are kept. */
  text: string;
  /** The same in UTF-8, without a byte order mark: going on with it saves encoding it anew. */
  bytes: Buffer;
  value: Record<string, unknown>;
}

/** Reads a submission body as a JSON object, whatever its content type says. */
export function parseInputBody(body: Buffer): InputBody {
  const text = decode(body);
  // Before parsing: what is nested without bounds takes the parser gigabytes.
  if (isDeeperThan(text, maxDepth)) throw refuse('', `is nested deeper than ${maxDepth} levels`);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('invalid_json', 'The body must be a JSON object, such as {"prompt": "a cat"}.');
  }
  assertStorable(text, value);
  return { text, bytes: withoutMark(body), value: value as Record<string, unknown> };
}

function withoutMark(body: Buffer): Buffer {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new DomainError('invalid_json', 'The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  if (text.trim() === '') {
    throw new DomainError(
      'invalid_json',
      'The body is empty. Send a JSON object, such as {"prompt": "a cat"}.',
    );
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = describe((error as Error).message, text.length);
    throw new DomainError('invalid_json', `The body is not valid JSON: ${reason}.`);
  }
}

/** V8 quotes the source in its messages; the place or the character is enough. */
function describe(message: string, length: number): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (/^Unexpected end|^Unterminated string/.test(message) || Number(position) >= length)
    return 'it ends too early';
  if (position !== undefined) return `unexpected character at position ${position}`;
  const token = /^Unexpected token '(.)'/su.exec(message)?.[1];
  return token === undefined ? 'it cannot be read' : `unexpected ${JSON.stringify(token)}`;
}

/** What PostgreSQL cannot hold, or no JSON reader could give back, is refused before it is accepted. */
function assertStorable(text: string, value: object): void {
  switch (findBadEscape(text)) {
    case 'nul':
      throw refuse(
        findPointer(value, (leaf) => typeof leaf === 'string' && leaf.includes('\0')) ?? '',
        'contains a NUL character, which cannot be stored',
      );
    case 'surrogate':
      throw refuse(
        findPointer(value, (leaf) => typeof leaf === 'string' && !leaf.isWellFormed()) ?? '',
        'contains half of a surrogate pair, which is no character',
      );
    case undefined:
  }
  const pointer = findPointer(value, (leaf) => typeof leaf === 'number' && !Number.isFinite(leaf));
  if (pointer !== undefined) throw refuse(pointer, 'is a number too large to hold');
}

function refuse(path: string, message: string): DomainError {
  const place = path.length <= maxPathLength ? path : path.slice(0, path.lastIndexOf('/', maxPathLength));
  const errors = [{ path: place.toWellFormed().replaceAll('\0', '\uFFFD'), message }];
  return new DomainError('invalid_input', `The input cannot be accepted: it ${message}.`, { errors });
}
