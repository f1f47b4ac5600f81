import { DomainError } from '../errors/domain-error.js';
import { rawElements, rawMember } from '../tools/json-scanner.js';
import { isObject, maxValues, parseInputPart, parseObjectBody } from '../http/input/json-body.js';

export const maxEntries = 1_000;
/** An input that is nested too deeply is one bad entry. A body with unbounded nesting is not read at all. */
const levelsAround = 1_000;
const maxOptionsLength = 16 * 1024;
const batchExample = '{"requests": [{"model_id": "demo/text/echo", "input": {}}]}';

/** One submission of a batch, before the caller's rights are checked. */
export interface BatchEntry {
  /** All members except the input. undefined: the entry is refused whatever its options are. */
  fields: Readonly<Record<string, unknown>> | undefined;
  /** The input as it was written. undefined: it is refused. */
  input: Buffer | undefined;
  refusal: DomainError | undefined;
  /** True if the input was checked against its model's schema, as the models were then. */
  isChecked: boolean;
}

export interface BatchBody {
  entries: BatchEntry[];
  /** A member of the body other than `requests`. */
  unknownName: string | undefined;
}

/** Throws if the model's schema refuses the input. False: the model is unknown, or has no schema. */
export type CheckInput = (modelId: unknown, input: Record<string, unknown>) => boolean;

export function readBatch(body: Buffer, checkInput: CheckInput): BatchBody {
  const { text, value } = parseObjectBody(body, {
    example: batchExample,
    levelsAround,
    maxValues,
    takesAnyText: true,
  });
  const unknownName = Object.keys(value).find((name) => name !== 'requests');
  const { requests } = value;
  if (!Array.isArray(requests) || requests.length < 1 || requests.length > maxEntries) {
    if (unknownName !== undefined) return { entries: [], unknownName };
    const detail = `"requests" takes 1 to ${maxEntries} entries, as in ${batchExample}.`;
    throw new DomainError('bad_request', detail);
  }
  // Taken from the text, because parsing and serialising an input could change its numbers.
  const texts = rawElements(rawMember(text, 'requests')!);
  const entries = requests.map((one: unknown, at) => readEntry(one, texts[at]!, checkInput));
  return { entries, unknownName };
}

function readEntry(value: unknown, text: string, checkInput: CheckInput): BatchEntry {
  if (!isObject(value)) return refused('bad_request', `An entry must be an object, as in ${batchExample}.`);
  const { input, ...fields } = value;
  const written = rawMember(text, 'input') ?? '';
  if (text.length - written.length > maxOptionsLength)
    return refused(
      'too_large',
      `An entry without its input may have ${maxOptionsLength} characters at most.`,
    );
  try {
    const { bytes, value: parsed } = parseInputPart(written, input);
    const isChecked = checkInput(fields['model_id'], parsed);
    return { fields, input: bytes, refusal: undefined, isChecked };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return { fields, input: undefined, refusal: error, isChecked: true };
  }
}

function refused(code: 'bad_request' | 'too_large', detail: string): BatchEntry {
  return { fields: undefined, input: undefined, refusal: new DomainError(code, detail), isChecked: true };
}
