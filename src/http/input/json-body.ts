import { DomainError } from '../../errors/domain-error.js';
import { hasMoreValues, isDeeperThan } from '../../tools/json-scanner.js';
import { badEscapeAt, codeUnitAt, storable } from '../../tools/storable-text.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const maxDepth = 200;
/** JSON values of an input, or of a batch of inputs. */
export const maxValues = 1_000_000;
/** Bounds of other bodies, which hold a few thousand ids at most. */
const small = { maxBytes: 1024 ** 2, maxValues: 20_000 };
/** Member names in a path come from the caller, and may be as long as the body. */
const maxPathLength = 500;

export interface InputBody {
  /** The input as the caller wrote it, with numbers beyond 2^53 and the original member names. */
  text: string;
  /** The same in UTF-8, without a byte order mark. Using it avoids encoding the text again. */
  bytes: Buffer;
  value: Record<string, unknown>;
}

/** Reads a submission body as a JSON object, whatever its content type. */
export function parseInputBody(body: Buffer): InputBody {
  const { text, value } = parseObjectBody(body, { example: '{"prompt": "a cat"}', maxValues });
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return { text, bytes: hasMark ? body.subarray(3) : body, value };
}

/** Reads an input that is a part of a body. `value`: the parsed value of its text. */
export function parseInputPart(text: string, value: unknown): InputBody {
  if (!isObject(value)) {
    throw new DomainError('invalid_json', 'The input must be a JSON object, such as {"prompt": "a cat"}.');
  }
  assertShallow(text, maxDepth);
  assertStorable(text, value);
  return { text, bytes: Buffer.from(text), value };
}

/** Rules for a body besides being a JSON object. */
export interface ObjectBody {
  example: string;
  /** Levels of nesting around the inputs of the body. */
  levelsAround?: number;
  /** The reader checks or cleans the texts itself. Default: a text that cannot be stored refuses the body. */
  takesAnyText?: boolean;
  /** The body may have the full allowed size and this many values. Default: the bounds of a small body. */
  maxValues?: number;
}

/** Parses any JSON object. */
export function parseObjectBody(
  body: Buffer,
  { example, levelsAround = 0, takesAnyText = false, maxValues: many }: ObjectBody,
): Omit<InputBody, 'bytes'> {
  if (many === undefined && body.length > small.maxBytes) {
    throw new DomainError(
      'body_too_large',
      `The body of this call may have ${small.maxBytes} bytes at most.`,
    );
  }
  const text = decode(body);
  // Checked before parsing, because unbounded nesting costs the parser gigabytes. A text that begins with `[` is no
  // object.
  if (/^\s*\[/.test(text)) throw noObject(example);
  assertShallow(text, maxDepth + levelsAround);
  const max = many ?? small.maxValues;
  if (hasMoreValues(text, max)) {
    const detail = `The body may hold ${max.toLocaleString('en')} JSON values at most. Send less, or a URL in place of the data.`;
    throw new DomainError('too_large', detail);
  }
  const value = parse(text, example);
  if (!isObject(value)) throw noObject(example);
  if (!takesAnyText) assertStorable(text, value);
  return { text, value };
}

const noObject = (example: string): DomainError =>
  new DomainError('invalid_json', `The body must be a JSON object, such as ${example}.`);

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the members that have one of these names. */
export function membersOf(
  value: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const known = names.filter((name) => Object.hasOwn(value, name));
  return Object.fromEntries(known.map((name) => [name, value[name]]));
}

function assertShallow(text: string, depth: number): void {
  if (isDeeperThan(text, depth)) throw refuse('', `is nested deeper than ${maxDepth} levels`);
}

function decode(body: Buffer): string {
  try {
    return utf8.decode(body);
  } catch {
    throw new DomainError('invalid_json', 'The body is not valid UTF-8.');
  }
}

function parse(text: string, example: string): unknown {
  const empty = `The body is empty. Send a JSON object, such as ${example}.`;
  if (text.trim() === '') throw new DomainError('invalid_json', empty);
  try {
    return JSON.parse(text);
  } catch (error) {
    const reason = describe((error as Error).message, text.length);
    throw new DomainError('invalid_json', `The body is not valid JSON: ${reason}.`);
  }
}

/** V8's messages quote the source. The position or the character is enough. */
function describe(message: string, length: number): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (/^Unexpected end|^Unterminated string/.test(message) || Number(position) >= length)
    return 'it ends too early';
  if (position !== undefined) return `unexpected character at position ${position}`;
  const token = /^Unexpected token '(.)'/su.exec(message)?.[1];
  return token === undefined ? 'it cannot be read' : `unexpected ${JSON.stringify(token)}`;
}

/** Something that an input may not contain. */
interface Fault {
  message: string;
  /** `leaf`: a text, the name of a member, or a number. */
  isIn(leaf: string | number): boolean;
}

const nul: Fault = {
  message: 'contains a NUL character, which cannot be stored',
  isIn: (leaf) => typeof leaf === 'string' && leaf.includes('\0'),
};
const halfPair: Fault = {
  message: 'contains half of a surrogate pair, which is not a character',
  isIn: (leaf) => typeof leaf === 'string' && !leaf.isWellFormed(),
};
const tooLarge: Fault = {
  message: 'is a number too large to store',
  isIn: (leaf) => typeof leaf === 'number' && !Number.isFinite(leaf),
};

/** Refuses, before acceptance, what PostgreSQL cannot store or no JSON reader could reproduce. */
function assertStorable(text: string, value: object): void {
  const escaped = badEscapeIn(text);
  const { message, isIn } = escaped ?? tooLarge;
  const pointer = findPointer(value, isIn);
  if (escaped !== undefined || pointer !== undefined) throw refuse(pointer ?? '', message);
}

function refuse(path: string, message: string): DomainError {
  const place = path.length <= maxPathLength ? path : path.slice(0, path.lastIndexOf('/', maxPathLength));
  const errors = [{ path: storable(place), message }];
  return new DomainError('invalid_input', `The input cannot be accepted: it ${message}.`, { errors });
}

/** Searches the valid JSON text, because a member hidden by a later one of the same name is stored too. */
function badEscapeIn(text: string): Fault | undefined {
  const at = badEscapeAt(text);
  if (at === -1) return undefined;
  return codeUnitAt(text, at) === 0 ? nul : halfPair;
}

/**
 * Returns the JSON Pointer (RFC 6901) of the first leaf that `isBad`. It builds no list of paths, because a body may
 * have five million.
 */
function findPointer(value: unknown, isBad: (leaf: string | number) => boolean): string | undefined {
  if (typeof value === 'string' || typeof value === 'number') return isBad(value) ? '' : undefined;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const below = findPointer(value[index], isBad);
      if (below !== undefined) return `/${index}${below}`;
    }
  } else if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) {
      const below = isBad(key) ? '' : findPointer((value as Record<string, unknown>)[key], isBad);
      if (below !== undefined) return `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}${below}`;
    }
  }
  return undefined;
}
