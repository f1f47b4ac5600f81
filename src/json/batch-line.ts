import { isObject, maxValues, membersOf, parseObjectBody } from '../http/input/json-body.js';
import { rawMember } from '../tools/json-scanner.js';

/** What is read of the lines of a batch. */
export interface LineTerms {
  /** A line, for messages. */
  example: string;
  /** The member of a line that is an input. */
  inputName: string;
  /** The members of the input that are read. */
  namesInInput: readonly string[];
}

export interface LineMembers {
  /** All members of the line except the input. */
  fields: Readonly<Record<string, unknown>>;
  /** The members of the input that are read. undefined: the line has no input, or it is no object. */
  ofInput: Readonly<Record<string, unknown>> | undefined;
}

/** Reads a line of a batch, without its line break. The second result is the input as it was written. */
export function readLineMembers(
  line: Buffer,
  { example, inputName, namesInInput }: LineTerms,
): [LineMembers, Buffer] {
  const { text, value } = parseObjectBody(line, { example, levelsAround: 1, maxValues, takesAnyText: true });
  const { [inputName]: input, ...fields } = value;
  if (!isObject(input)) return [{ fields, ofInput: undefined }, Buffer.alloc(0)];
  // Taken from the text, because parsing and serialising an input could change its numbers.
  const written = Buffer.from(rawMember(text, inputName)!);
  return [{ fields, ofInput: membersOf(input, namesInInput) }, written];
}
