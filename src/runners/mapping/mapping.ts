import { validateHeaderName } from 'node:http';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { packageRoot } from '../../config/package.js';
import { parseDuration } from '../../config/parsers.js';
import { hint } from '../../tools/closest.js';
import { EntryFault } from '../../tools/validation.js';
import { type AssemblerKind, assemblerKinds, isObject, type JsonObject } from './assemblers.js';
import { type Path, readPath, readPaths } from './paths.js';
import { Template } from './templates.js';

/** How the input becomes the request to a server. */
export interface RequestMapping {
  readonly method: string;
  /** Merged over the input (RFC 7396). Its texts may have placeholders. */
  readonly set: SetValue | undefined;
  /** The name of the member that the input becomes. */
  readonly wrap: string | undefined;
  readonly headers: ReadonlyMap<string, Template>;
  /** Parts of a form by name, each a path into the input or a text; `*` adds all other members of the input. */
  readonly multipart: ReadonlyMap<string, Path | string> | undefined;
}

/** Where a server's answer, or each chunk of its stream, says what. */
export interface ResponseMapping {
  readonly delta: readonly Path[];
  readonly log: readonly Path[];
  readonly progress: readonly Path[];
  readonly output: readonly Path[];
  readonly error: readonly Path[];
  readonly retryable: readonly Path[];
  /** A stream ends where one of the paths has a value, or where an event's data is one of the texts. */
  readonly end: { readonly paths: readonly Path[]; readonly texts: readonly string[] };
  readonly usage: readonly Path[];
  readonly files: readonly Path[];
  readonly assemble: AssemblerKind | undefined;
}

export interface Mapping {
  readonly request: RequestMapping;
  readonly response: ResponseMapping;
  /** Statuses of a server that takes no further run now. */
  readonly busy: readonly number[];
  /** Statuses that say that the server is not there, if they come at once. undefined: as for any http model. */
  readonly away: readonly number[] | undefined;
  /** A stream that is silent for so long is broken. */
  readonly idleTimeoutMs: number | undefined;
}

/** The options of a mapping as `models.yaml` or a preset has them. Each is checked when it is read. */
export interface PlainMapping {
  request?: JsonObject | undefined;
  response?: JsonObject | undefined;
  busy?: readonly number[] | undefined;
  away?: readonly number[] | undefined;
  /** A duration, or milliseconds. */
  idle_timeout?: string | number | undefined;
}

/** A value of `set`: JSON in which texts are templates. */
export type SetValue =
  Template | number | boolean | null | readonly SetValue[] | ReadonlyMap<string, SetValue>;

type Readers<T> = { [Name in keyof T]: (value: unknown) => T[Name] };

const method = /^[A-Z]{1,20}$/;

const requestReaders: Readers<RequestMapping> = {
  method: (value) => {
    if (typeof value === 'string' && method.test(value)) return value;
    throw new Error('expected an HTTP method such as POST or PUT');
  },
  set: readSet,
  wrap: (value) => {
    if (typeof value === 'string' && value !== '') return value;
    throw new Error('expected the name of a member, such as input');
  },
  headers: (value) =>
    new Map(
      entriesOf(value, 'expected a map of header names and texts').map(([name, text]) => {
        try {
          validateHeaderName(name);
        } catch {
          throw new Error(`"${name}" is not the name of a header`);
        }
        return [name.toLowerCase(), Template.read(typeof text === 'number' ? String(text) : text)];
      }),
    ),
  multipart: (value) =>
    new Map(
      entriesOf(value, 'expected a map of part names, such as { file: $.audio }').map(
        ([name, part]): [string, Path | string] => {
          if (typeof part === 'string' && part.startsWith('$')) return [name, readPath(part)];
          if (typeof part === 'string' || typeof part === 'number' || typeof part === 'boolean')
            return [name, String(part)];
          throw new Error(`"${name}": expected a JSONPath such as $.audio, or a text`);
        },
      ),
    ),
};

const responseReaders: Readers<ResponseMapping> = {
  delta: readPaths,
  log: readPaths,
  progress: readPaths,
  output: readPaths,
  error: readPaths,
  retryable: readPaths,
  end: (value) => {
    const ends = Array.isArray(value) ? (value as unknown[]) : [value];
    const isText = (end: unknown): end is string => typeof end === 'string' && !end.startsWith('$');
    return { paths: ends.filter((end) => !isText(end)).map(readPath), texts: ends.filter(isText) };
  },
  usage: readPaths,
  files: readPaths,
  assemble: (value) => {
    const kind = assemblerKinds.find((one) => one === value);
    if (kind !== undefined) return kind;
    throw new Error(`expected one of ${assemblerKinds.join(', ')}`);
  },
};

/** Checks the members of `request`. Throws an `AggregateError` of `EntryFault`s. */
export function checkRequest(value: unknown): JsonObject {
  return checked(value, requestReaders, 'expected a map such as { set: { stream: true } }');
}

/** Checks the members of `response`. Throws an `AggregateError` of `EntryFault`s. */
export function checkResponse(value: unknown): JsonObject {
  return checked(value, responseReaders, 'expected a map such as { error: $.error.message }');
}

export function checkStatuses(value: unknown): readonly number[] {
  const isStatus = (one: unknown): one is number =>
    Number.isInteger(one) && Number(one) >= 300 && Number(one) <= 599;
  if (Array.isArray(value) && value.every(isStatus)) return value;
  throw new Error('expected a list of HTTP statuses from 300 to 599, such as [409, 429]');
}

/** Merges options over those of the preset and compiles them. */
export function mappingOf(plain: PlainMapping, preset: PlainMapping): Mapping {
  const merged = overridden(preset, plain) as PlainMapping;
  const request: JsonObject = {
    ...overridden(preset.request, plain.request),
    ...(isObject(preset.request?.set) && {
      set: { ...preset.request.set, ...(plain.request?.set as object) },
    }),
  };
  const response = overridden(preset.response, plain.response);
  const read = <T>(reader: (value: unknown) => T, value: unknown): T | undefined =>
    value === undefined || value === null ? undefined : reader(value);
  const paths = (name: keyof ResponseMapping): readonly Path[] => read(readPaths, response[name]) ?? [];
  return {
    request: {
      method: read(requestReaders.method, request.method) ?? 'POST',
      set: read(requestReaders.set, request.set),
      wrap: read(requestReaders.wrap, request.wrap),
      headers: read(requestReaders.headers, request.headers) ?? new Map<string, Template>(),
      multipart: read(requestReaders.multipart, request.multipart),
    },
    response: {
      delta: paths('delta'),
      log: paths('log'),
      progress: paths('progress'),
      output: paths('output'),
      error: paths('error'),
      retryable: paths('retryable'),
      end: read(responseReaders.end, response.end) ?? { paths: [], texts: [] },
      usage: paths('usage'),
      files: paths('files'),
      assemble: read(responseReaders.assemble, response.assemble),
    },
    busy: merged.busy ?? [],
    away: merged.away,
    idleTimeoutMs: read(millisecondsOf, merged.idle_timeout),
  };
}

const presetsRoot = new URL('assets/presets/', packageRoot);

export const presetNames: readonly string[] = readdirSync(presetsRoot)
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => name.slice(0, -'.yaml'.length))
  .sort();

export function presetText(name: string): string {
  return readFileSync(new URL(`${name}.yaml`, presetsRoot), 'utf8');
}

/** A preset's file: a mapping, or one for each end of the URL's path. */
interface Preset extends PlainMapping {
  paths?: Readonly<Record<string, PlainMapping>>;
}

/** Returns the mapping of a preset for a model's URLs. Throws if the preset does not know the path of the first. */
export function presetFor(name: string, [url]: readonly string[]): PlainMapping {
  const { paths, ...common } = parse(presetText(name)) as Preset;
  if (paths === undefined) return common;
  const { pathname } = new URL(url!);
  const found = Object.entries(paths).find(([end]) => pathname.replace(/\/$/, '').endsWith(end));
  if (found !== undefined) {
    const { request, response, ...others } = found[1];
    return {
      ...common,
      ...others,
      request: overridden(common.request, request),
      response: overridden(common.response, response),
    };
  }
  throw new Error(
    `the preset "${name}" knows URLs that end with ${Object.keys(paths).join(', ')}; it does not know this path`,
  );
}

export function checkPreset(value: unknown): string {
  if (typeof value === 'string' && presetNames.includes(value)) return value;
  const near = typeof value === 'string' ? hint(value, presetNames) : '';
  throw new Error(`expected one of ${presetNames.join(', ')}${near}`);
}

/** Returns options with those in place that the second object sets. */
function overridden(options: object = {}, by: object = {}): JsonObject {
  const set = Object.entries(by).filter(([, value]) => value !== undefined);
  return { ...options, ...Object.fromEntries(set) };
}

function millisecondsOf(value: unknown): number {
  return typeof value === 'number' ? value : parseDuration(String(value));
}

function readSet(value: unknown): SetValue {
  if (!isObject(value)) throw new Error('expected a map of members, such as { stream: true }');
  return readSetValue(value);
}

function readSetValue(value: unknown): SetValue {
  if (typeof value === 'string') return Template.read(value);
  if (Array.isArray(value)) return value.map(readSetValue);
  if (isObject(value)) return new Map(Object.entries(value).map(([name, one]) => [name, readSetValue(one)]));
  return value as number | boolean | null;
}

function entriesOf(value: unknown, expected: string): [string, unknown][] {
  if (!isObject(value)) throw new Error(expected);
  return Object.entries(value);
}

function checked<T>(value: unknown, readers: Readers<T>, expected: string): JsonObject {
  const faults: EntryFault[] = [];
  for (const [name, option] of entriesOf(value, expected)) {
    try {
      if (!Object.hasOwn(readers, name))
        throw new Error(
          `unknown option${hint(name, Object.keys(readers))}; there are ${Object.keys(readers).join(', ')}`,
        );
      if (option !== null) readers[name as keyof T](option);
    } catch (error) {
      faults.push(new EntryFault(name, (error as Error).message));
    }
  }
  if (faults.length > 0) throw new AggregateError(faults);
  return value as JsonObject;
}
