import { randomUUID } from 'node:crypto';
import type { JSONPathNode } from 'json-p3';
import { rawElements, rawMember, rawMembers } from '../tools/json-scanner.js';
import { mergePatch } from '../tools/merge-patch.js';
import { storableJsonBytes } from '../tools/storable-text.js';
import { isObject } from '../http/input/json-body.js';
import { fileBytes, isDataUrl, unknownType } from './embedded-file.js';
import { firstAt, firstNodeAt, foundAt, nodesAt, type Path, type PlainPath, valuesAt } from './paths.js';
import { type Location, textsAt, withTexts } from './written.js';

/** Values of an answer by their paths. */
export type Quotes = Readonly<Record<string, string | number>>;

/** Places of files in an output. */
export interface FileAsk<P extends PlainPath> {
  readonly path: P;
  /** Only data URLs are files there; other texts stay, even those that could be read as base64. */
  readonly isDataUrl?: boolean | undefined;
  /** What the URL of the file quotes of the value there. undefined: the file or its URL is found there. */
  readonly quotes?: readonly P[] | undefined;
}

export interface OutputAsk<P extends PlainPath> {
  /**
   * The first value at any of the paths that is not empty is the output, or the first one if all are. No paths: the
   * whole answer is.
   */
  readonly paths: readonly P[];
  readonly files: readonly FileAsk<P>[];
  /** URLs of files count if they are of this server. undefined: no URL does. */
  readonly address?: string | undefined;
}

/** The parts of a JSON answer that are asked for. */
export interface Asks<P extends PlainPath = Path> {
  /** By the name of a value: the paths at which it is looked for. The first value that is not empty counts. */
  readonly values: Readonly<Record<string, readonly P[]>>;
  readonly quotes?: readonly P[];
  readonly output?: OutputAsk<P> | undefined;
  /** The name of a value. There is no output until the answer has this value. */
  readonly outputWith?: string | undefined;
}

/** A file in an output: its bytes are embedded, or it is at a path of the server. */
export type FoundFile =
  | { readonly contentType: string }
  | { readonly path: string }
  /** Its URL quotes these values. `ask`: the index of the `FileAsk`. */
  | { readonly ask: number; readonly quotes: Quotes };

/** An output in pieces. Between two of them, the URL of a file is missing. */
export interface FoundOutput {
  /** Bytes of each piece and of the embedded file after it, in turn; the last piece has no file after it. */
  readonly lengths: readonly number[];
  readonly files: readonly FoundFile[];
}

/** The parts of an answer that were asked for. */
export interface Found {
  /** It is an object or an array, so its text shows where it ends. */
  readonly showsItsEnd: boolean;
  readonly values: Readonly<Record<string, unknown>>;
  /** Texts and numbers at the paths of `quotes` that are there. */
  readonly quotes: Quotes;
  readonly output: FoundOutput | undefined;
}

/** How the input of a run becomes the body of its call. */
export interface BodyAsk<P extends PlainPath = Path> {
  /** Merged over the input; undefined: nothing. */
  readonly set: unknown;
  /** Parts of a form; undefined: the body is JSON. */
  readonly multipart: readonly (readonly [name: string, from: P | string])[] | undefined;
}

/** A part of a form: a text, an embedded file, or the value at a path, which may name a file. */
export type FoundPart =
  | { readonly name: string; readonly text: string }
  | { readonly name: string; readonly contentType: string; readonly length: number }
  | { readonly name: string; readonly value: string };

const none: Buffer = Buffer.alloc(0);
/** A longer value is returned only if it is a text. */
const maxValueLength = 64 * 1024;

/** Returns the parts of an answer that are asked for, and the bytes of its output and of its files. */
export function findIn(json: unknown, asWritten: Buffer, asks: Asks): [Found, Buffer] {
  const { values: paths, quotes = [], output: ask, outputWith } = asks;
  const values = Object.fromEntries(
    Object.entries(paths).map(([name, list]) => [name, brief(firstAt(list, json))]),
  );
  const quoted = quotedAt(quotes, json, () => asWritten.toString());
  const hasOutput = ask !== undefined && (outputWith === undefined || values[outputWith] !== undefined);
  const [output, bytes] = hasOutput ? outputIn(json, asWritten, ask) : [undefined, none];
  const showsItsEnd = typeof json === 'object' && json !== null;
  return [{ showsItsEnd, values, quotes: quoted, output }, bytes];
}

function brief(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return JSON.stringify(value).length <= maxValueLength ? value : {};
}

/** `written`: returns the text of the value, if there is one. */
function quotedAt(paths: readonly Path[], json: unknown, written: () => string | undefined): Quotes {
  const quotes: Record<string, string | number> = {};
  for (const path of paths) {
    const [value] = valuesAt(path, json);
    if (typeof value === 'string' || Number.isSafeInteger(value))
      quotes[path.text] = value as string | number;
    else if (typeof value === 'number') quotes[path.text] = numberAt(path, value, json, written());
  }
  return quotes;
}

/** Returns a number as it was written, because an id may be greater than 2^53. */
function numberAt(path: Path, value: number, json: unknown, written: string | undefined): string | number {
  const node = [...nodesAt(path, json)].find((one) => one.value === value);
  return written === undefined || node === undefined ? value : textsAt(written, [node.location])[0]!;
}

/** Returns the output in an answer, in pieces. undefined: there is nothing at its paths. */
export function outputIn(
  json: unknown,
  asWritten: Buffer | undefined,
  { paths, files, address }: OutputAsk<Path>,
): [FoundOutput | undefined, Buffer] {
  const output = paths.length === 0 ? json : foundAt(paths, json);
  if (output === undefined) return [undefined, none];
  // The text stays as it was written, because numbers could change.
  if (asWritten !== undefined && paths.length === 0 && files.length === 0) return inOnePiece(asWritten);
  const mark = randomUUID();
  const written = asWritten && writtenAt(paths, asWritten);
  const found: { file: FoundFile; bytes: Buffer; location: Location }[] = [];
  const seen = new Set<unknown>();
  for (const [index, ask] of files.entries())
    for (const { value, location } of nodesAt(ask.path, output)) {
      const textOfIt = (): string | undefined => written && textsAt(written.toString(), [location])[0];
      const file = ask.quotes && { ask: index, quotes: quotedAt(ask.quotes, value, textOfIt) };
      const there = file === undefined ? fileAt(value, ask, address) : { file, bytes: none };
      if (there === undefined) continue;
      const key = JSON.stringify(location);
      if (seen.has(key)) continue;
      seen.add(key);
      found.push({ ...there, location });
    }
  if (found.length === 0) return inOnePiece(written ?? Buffer.from(JSON.stringify(output)));
  const marks = found.map(({ location }, i) => ({ location, text: `${mark}-${i}-` }));
  const text = withTexts(written?.toString() ?? JSON.stringify(output), marks);
  // Every second one is the index of a file.
  const parts = text.split(new RegExp(`${mark}-(\\d+)-`));
  const inOrder = parts.filter((_, i) => i % 2 === 1).map((index) => found[Number(index)]!);
  const pieces = parts.filter((_, i) => i % 2 === 0).map((piece) => storableJsonBytes(Buffer.from(piece)));
  const all = pieces.flatMap((piece, i) => (i < inOrder.length ? [piece, inOrder[i]!.bytes] : [piece]));
  return [
    { lengths: all.map(({ length }) => length), files: inOrder.map(({ file }) => file) },
    Buffer.concat(all),
  ];
}

/** Returns the output as it was written. undefined: its path is not one of plain names. */
function writtenAt(paths: readonly Path[], json: Buffer): Buffer | undefined {
  const [path, ...others] = paths;
  if (path === undefined) return json;
  const { steps, values } = path;
  if (steps === undefined || values !== undefined || others.length > 0) return undefined;
  let text: string | undefined = json.toString();
  for (const step of steps)
    text = typeof step === 'string' && text !== undefined ? rawMember(text, step) : undefined;
  return text === undefined ? undefined : Buffer.from(text);
}

function inOnePiece(json: Buffer): [FoundOutput, Buffer] {
  const bytes = storableJsonBytes(json);
  return [{ lengths: [bytes.length], files: [] }, bytes];
}

function fileAt(
  value: unknown,
  { isDataUrl: isOnlyDataUrl = false }: FileAsk<Path>,
  address: string | undefined,
): { file: FoundFile; bytes: Buffer } | undefined {
  if (typeof value !== 'string' || (isOnlyDataUrl && !isDataUrl(value))) return undefined;
  const embedded = fileBytes(value);
  const mayBeUrl = address !== undefined && /^(?:https?:\/)?\//i.test(value);
  // The base64 of a JPEG begins with / like a path.
  if (embedded !== undefined && (!mayBeUrl || embedded.contentType !== unknownType))
    return { file: { contentType: embedded.contentType }, bytes: embedded.bytes };
  if (!mayBeUrl || !URL.canParse(value, address)) return undefined;
  const { origin, pathname, search } = new URL(value, address);
  return origin === new URL(address).origin ? { file: { path: pathname + search }, bytes: none } : undefined;
}

type GivenPart = { name: string; text: string } | { name: string; node: JSONPathNode };

/** Returns the body that an input, a JSON text, becomes: JSON, or the parts of a form with the bytes of its embedded files. */
export function bodyOf(input: string, { set, multipart }: BodyAsk): [FoundPart[] | undefined, Buffer] {
  const json = set === undefined ? input : mergePatch(input, set);
  if (multipart === undefined) return [undefined, Buffer.from(json)];
  const merged: unknown = JSON.parse(json);
  const given = multipart.flatMap(([name, from]): GivenPart[] => {
    if (name === '*') return [];
    if (typeof from === 'string') return [{ name, text: from }];
    return [...nodesAt(from, merged)].flatMap((node) => (node.value === null ? [] : { name, node }));
  });
  const others = multipart.find(([name]) => name === '*')?.[1];
  const all = others === undefined || typeof others === 'string' ? undefined : firstNodeAt(others, merged);
  // The texts stay as they were written, because numbers could change.
  const locations = given.flatMap((one) => ('node' in one ? [one.node.location] : []));
  const texts = textsAt(json, all === undefined ? locations : [...locations, all.location]).values();
  const files: Buffer[] = [];
  const parts = given.map((one): FoundPart =>
    'node' in one ? partOf(one.name, one.node.value, texts.next().value!, files) : one,
  );
  if (!isObject(all?.value)) return [parts, Buffer.concat(files)];
  /** Members of the input that have parts of their own. */
  const used = new Set<unknown>(locations.map(([member]) => member));
  const names = new Set(multipart.map(([name]) => name));
  for (const [name, text] of rawMembers(texts.next().value!)) {
    if (used.has(name) || names.has(name) || text === 'null') continue;
    if (text.startsWith('['))
      for (const one of rawElements(text)) parts.push({ name: `${name}[]`, text: textOf(one) });
    else parts.push({ name, text: textOf(text) });
  }
  return [parts, Buffer.concat(files)];
}

function partOf(name: string, value: unknown, json: string, files: Buffer[]): FoundPart {
  if (typeof value !== 'string') return { name, text: json };
  const embedded = isDataUrl(value) ? fileBytes(value) : undefined;
  if (embedded === undefined) return { name, value };
  files.push(embedded.bytes);
  return { name, contentType: embedded.contentType, length: embedded.bytes.length };
}

/** Returns a text without its quotes, and any other JSON as it is. */
const textOf = (json: string): string => (json.startsWith('"') ? (JSON.parse(json) as string) : json);
