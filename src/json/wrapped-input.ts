import { DomainError } from '../errors/domain-error.js';
import { maxValues, parseInputPart, parseObjectBody } from '../http/input/json-body.js';
import { rawMember } from '../tools/json-scanner.js';

const maxOptionsLength = 16 * 1024;
const example = '{"input": {"prompt": "a cat"}}';

/** A submission whose body has the input as one member and the options as others. */
export interface WrappedInput {
  /** All members except the input. */
  fields: Readonly<Record<string, unknown>>;
  /** The input as it was written. */
  input: Buffer;
}

export function readWrappedInput(body: Buffer): WrappedInput {
  const { text, value } = parseObjectBody(body, { example, levelsAround: 1, maxValues });
  const { input, ...fields } = value;
  const written = rawMember(text, 'input');
  if (written === undefined) throw new DomainError('bad_request', `The body needs an "input": ${example}.`);
  if (text.length - written.length > maxOptionsLength) {
    const detail = `The body without its input may have ${maxOptionsLength} characters at most.`;
    throw new DomainError('too_large', detail);
  }
  return { fields, input: parseInputPart(written, input).bytes };
}
