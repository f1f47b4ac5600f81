import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { DomainError, type DomainErrorOptions, type FieldError } from '../errors/domain-error.js';
import type { ProblemCode } from '../errors/problem-codes.js';
import { hasMoreValues, isJson, rawMember } from '../tools/json-scanner.js';
import { maxModelDepth, parseJson, storableJsonBytes } from '../tools/storable-text.js';
import { readRunLine, type RunLine, RunLineFault } from '../queue/runs/run-lines.js';
import { readBatch } from './batch-body.js';
import { type LineMembers, type LineTerms, readLineMembers } from './batch-line.js';
import { membersOf, parseInputBody } from '../http/input/json-body.js';
import { readWrappedInput, type WrappedInput } from './wrapped-input.js';
import { type OpenAiAnswer, type OpenAiAsks, openAiTexts } from './openai-answers.js';
import { type AssemblerKind, assemblerOf, isObject, type JsonObject } from './assemblers.js';
import {
  type Asks,
  type BodyAsk,
  bodyOf,
  type Found,
  type FoundOutput,
  type FoundPart,
  findIn,
  type OutputAsk,
  outputIn,
} from './mapped-json.js';
import { compiledPath, type Path, type PlainPath } from './paths.js';

/** The kinds of jobs. Unless a job throws, it returns its bytes, or other bytes in their place. */
export interface Jobs {
  /** Checks the input of a submission. */
  input: { modelId: string; fingerprint?: Fingerprint | undefined };
  /** Reads a batch and checks its inputs. Returns the inputs, one after another. */
  batch: object;
  /** Reads a line of a batch. Returns the input. */
  line: LineTerms;
  /** Reads members of an object. Returns its bytes. */
  members: { names: readonly string[] };
  /** Takes the input out of a body that has it as one member. Returns the input. */
  wrapped: object;
  /** Checks the answer of a model. Removes a byte order mark. */
  output: object;
  /** Makes an answer of OpenAI's API of the output of a model. Returns no bytes. */
  openAi: { name: OpenAiAnswer; ask: OpenAiAsks[OpenAiAnswer] };
  /** Reads a line that a run emits. If the line is an output, returns that. */
  runLine: object;
  /** Reads the answer of a model that has a mapping. Returns the output with its files. */
  mapped: Asks<PlainPath>;
  /**
   * Adds chunks of a stream, one a line. Returns their sum as a chunk, or, if that is asked for, the output that they
   * make, with its files.
   */
  assembled: { kind: AssemblerKind; output?: OutputAsk<PlainPath> | undefined };
  /** Changes an input by the mapping of its model. Returns the JSON, or the embedded files of a form. */
  body: BodyAsk<PlainPath>;
}

export interface Results {
  input: { fingerprint?: Uint8Array };
  batch: { entries: PlainEntry[]; unknownName: string | undefined };
  line: LineMembers;
  members: { members: Readonly<Record<string, unknown>>; sha256: Uint8Array };
  wrapped: Pick<WrappedInput, 'fields'>;
  output: { fault: AnswerFault | undefined };
  openAi: { texts: string[] };
  runLine: { runLine: RunLine } | { fault: string };
  mapped: { found: Found } | { fault: AnswerFault };
  assembled: { ends: JsonObject; output: FoundOutput | undefined };
  body: { parts: FoundPart[] | undefined };
}

export type AnswerFault = 'is not UTF-8' | 'is not JSON';

const maxLineValues = 100_000;
const none = Buffer.alloc(0);

export type JobKind = keyof Jobs;

/** What a hash covers besides the input. */
export interface Fingerprint {
  before: string;
  after: string;
}

/** An error as it is passed between threads. */
export interface PlainError {
  code: ProblemCode;
  message: string;
  options: DomainErrorOptions;
}

export interface PlainEntry {
  fields: Readonly<Record<string, unknown>> | undefined;
  /** The end of its input among the bytes. undefined: the input is refused. */
  end: number | undefined;
  refusal: PlainError | undefined;
  isChecked: boolean;
}

/** Returns the faults of an input. undefined: the model has no schema. */
export type Validate = (modelId: string, input: unknown) => FieldError[] | undefined;

type Runs = {
  [Kind in JobKind]: (job: Jobs[Kind], bytes: Buffer, validate: Validate) => [Results[Kind], Buffer];
};

export const runs: Runs = {
  input({ modelId, fingerprint }, body, validate) {
    const { bytes, value } = parseInputBody(body);
    assertFits(modelId, validate(modelId, value));
    if (fingerprint === undefined) return [{}, bytes];
    return [{ fingerprint: fingerprintOf(fingerprint, bytes) }, bytes];
  },

  batch(_job, body, validate) {
    const { entries, unknownName } = readBatch(body, (modelId, input) => {
      const errors = typeof modelId === 'string' ? validate(modelId, input) : undefined;
      assertFits(String(modelId), errors);
      return errors !== undefined;
    });
    let end = 0;
    const plain = entries.map(({ fields, input, refusal, isChecked }) => {
      end += input?.length ?? 0;
      return { fields, end: input && end, refusal: refusal && toPlain(refusal), isChecked };
    });
    return [{ entries: plain, unknownName }, Buffer.concat(entries.flatMap(({ input }) => input ?? []))];
  },

  line(terms, body) {
    return readLineMembers(body, terms);
  },

  members({ names }, body) {
    const members = membersOf(parseInputBody(body).value, names);
    return [{ members, sha256: createHash('sha256').update(body).digest() }, body];
  },

  wrapped(_job, body) {
    const { fields, input } = readWrappedInput(body);
    return [{ fields }, input];
  },

  output(_job, body) {
    const bytes = hasMark(body) ? body.subarray(3) : body;
    const fault = isUtf8(bytes) ? (isJson(bytes, maxModelDepth) ? undefined : 'is not JSON') : 'is not UTF-8';
    return [{ fault }, fault === undefined ? storableJsonBytes(bytes) : bytes];
  },

  openAi({ name, ask }, output) {
    return [{ texts: openAiTexts(name, ask, output.toString()) }, none];
  },

  mapped(asks, body) {
    const bytes = hasMark(body) ? body.subarray(3) : body;
    if (!isUtf8(bytes)) return [{ fault: 'is not UTF-8' }, none];
    const json = parseJson(bytes.toString());
    if (json === undefined) return [{ fault: 'is not JSON' }, none];
    const [found, output] = findIn(json.value, bytes, compiledAsks(asks));
    return [{ found }, output];
  },

  assembled({ kind, output: ask }, chunks) {
    const assembler = assemblerOf(kind);
    for (const line of chunks.toString().split('\n')) {
      const chunk: unknown = JSON.parse(line);
      if (isObject(chunk)) assembler.add(chunk);
    }
    const { ends } = assembler;
    if (ask === undefined) return [{ ends, output: undefined }, Buffer.from(JSON.stringify(assembler.sum))];
    const [output, bytes] = outputIn(assembler.output, undefined, compiledOutput(ask));
    return [{ ends, output }, bytes];
  },

  body({ set, multipart }, input) {
    const [parts, bytes] = bodyOf(input.toString(), {
      set,
      multipart: multipart?.map(([name, from]) => [
        name,
        typeof from === 'string' ? from : compiledPath(from),
      ]),
    });
    return [{ parts }, bytes];
  },

  runLine(_job, line) {
    const text = line.toString();
    // The value of an output is not parsed, because it may be larger than any other line.
    const isOutput = isJson(line, maxModelDepth) && rawMember(text, 'type') === '"output"';
    const output = isOutput ? rawMember(text, 'output') : undefined;
    if (output !== undefined)
      return [{ runLine: { type: 'output', output: '' } }, storableJsonBytes(Buffer.from(output))];
    try {
      if (hasMoreValues(text, maxLineValues))
        throw new RunLineFault(`a line of more than ${maxLineValues} JSON values`);
      return [{ runLine: readRunLine(text) }, none];
    } catch (error) {
      if (!(error instanceof RunLineFault)) throw error;
      return [{ fault: error.message }, none];
    }
  },
};

/** Compiles the paths of what another thread asks. */
function compiledAsks({ values, quotes = [], output, outputWith }: Asks<PlainPath>): Asks {
  const compiled = (paths: readonly PlainPath[]): Path[] => paths.map(compiledPath);
  return {
    values: Object.fromEntries(Object.entries(values).map(([name, paths]) => [name, compiled(paths)])),
    quotes: compiled(quotes),
    output: output && compiledOutput(output),
    outputWith,
  };
}

function compiledOutput({ paths, files, address }: OutputAsk<PlainPath>): OutputAsk<Path> {
  return {
    paths: paths.map(compiledPath),
    files: files.map(({ path, quotes, ...file }) => ({
      ...file,
      path: compiledPath(path),
      quotes: quotes?.map(compiledPath),
    })),
    address,
  };
}

export function assertFits(modelId: string, errors: FieldError[] = []): void {
  if (errors.length === 0) return;
  throw new DomainError('invalid_input', `The input does not fit the schema of ${modelId}.`, { errors });
}

export function fingerprintOf({ before, after }: Fingerprint, bytes: Buffer | string): Buffer {
  return createHash('sha256').update(before).update(bytes).update(after).digest();
}

export const hasMark = (bytes: Buffer): boolean =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

export function toPlain({ code, message, options }: DomainError): PlainError {
  const { errors, retryAfterSeconds } = options;
  return {
    code,
    message,
    options: { ...(errors && { errors }), ...(retryAfterSeconds && { retryAfterSeconds }) },
  };
}

export const fromPlain = ({ code, message, options }: PlainError): DomainError =>
  new DomainError(code, message, options);
