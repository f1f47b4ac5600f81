import { DomainError } from '../errors/domain-error.js';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
const maxDepth = 200;

export interface InputBody {
  /** As the caller wrote it: numbers beyond 2^53, the order and spelling of its members are kept. */
  text: string;
  value: Record<string, unknown>;
}

/** Reads a submission body as a JSON object, whatever its content type says. */
export function parseInputBody(body: Buffer): InputBody {
  const text = decode(body);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('invalid_json', 'The body must be a JSON object, such as {"prompt": "a cat"}.');
  }
  assertStorable(value);
  return { text, value: value as Record<string, unknown> };
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
    if (error instanceof RangeError) throw tooDeep();
    throw new DomainError('invalid_json', `The body is not valid JSON: ${describe(error as Error)}.`);
  }
}

/** V8 quotes the source in its message; the position is enough. */
function describe({ message }: Error): string {
  const position = /at position (\d+)/.exec(message);
  if (position !== null) return `unexpected character at position ${position[1]}`;
  return 'it ends too early';
}

/** What PostgreSQL cannot hold, or no JSON reader could give back, is refused before it is accepted. */
function assertStorable(root: object): void {
  const stack: { value: unknown; path: string; depth: number }[] = [{ value: root, path: '', depth: 1 }];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    const { value, path, depth } = node;
    if (typeof value === 'string') assertText(value, path);
    else if (typeof value === 'number' && !Number.isFinite(value))
      throw refuse(path, 'is a number too large to hold');
    else if (typeof value === 'object' && value !== null) {
      if (depth > maxDepth) throw tooDeep();
      for (const [key, child] of Object.entries(value)) {
        const childPath = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (!Array.isArray(value)) assertText(key, childPath);
        if (typeof child !== 'boolean' && child !== null)
          stack.push({ value: child, path: childPath, depth: depth + 1 });
      }
    }
  }
}

function assertText(text: string, path: string): void {
  if (text.includes('\0')) throw refuse(path, 'contains a NUL character, which cannot be stored');
  if (!text.isWellFormed()) throw refuse(path, 'contains half of a surrogate pair, which is no character');
}

function tooDeep(): DomainError {
  return refuse('', `is nested deeper than ${maxDepth} levels`);
}

function refuse(path: string, message: string): DomainError {
  const errors = [{ path: path.toWellFormed().replaceAll('\0', '\uFFFD'), message }];
  return new DomainError('invalid_input', `The input cannot be accepted: it ${message}.`, { errors });
}
