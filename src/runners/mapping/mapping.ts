import { validateHeaderName } from 'node:http';
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';
import { packageRoot } from '../../config/package.js';
import { parseDuration } from '../../tools/duration.js';
import { type Path, readPath, readPaths } from '../../json/paths.js';
import type { HealthCheck } from '../../models/runner-kind.js';
import { hint } from '../../tools/closest.js';
import { EntryFault } from '../../tools/validation.js';
import { type AssemblerKind, assemblerKinds, isObject, type JsonObject } from '../../json/assemblers.js';
import { Template } from './templates.js';

/** How the input becomes the request to a server. */
export interface RequestMapping {
  readonly method: string;
  /** undefined: the URL of the model. */
  readonly url: Template | undefined;
  /** Merged over the input (RFC 7396). Its texts may have placeholders. */
  readonly set: SetValue | undefined;
  /** The name of the member that the input becomes. */
  readonly wrap: string | undefined;
  readonly headers: ReadonlyMap<string, Template>;
  /** Values of the header `accept` that are sent one after another while the server answers 406. */
  readonly accept: readonly string[] | undefined;
  /** Parts of a form by name, each a path into the input or a text; `*` adds all other members of the input. */
  readonly multipart: ReadonlyMap<string, Path | string> | undefined;
}

/** The paths of the parts in a server's answer, or in each chunk of its stream. */
export interface ResponseMapping {
  readonly delta: readonly Path[];
  /** True: the chunks of a stream are kept as they come, for readers of the server's own API. */
  readonly chunks: boolean;
  readonly log: readonly Path[];
  readonly progress: readonly Path[];
  readonly output: readonly Path[];
  readonly error: readonly Path[];
  readonly retryable: readonly Path[];
  /** A stream ends where one of the paths has a value, or where an event's data is one of the texts. */
  readonly end: { readonly paths: readonly Path[]; readonly texts: readonly string[] };
  readonly usage: readonly Path[];
  readonly files: readonly Omit<FilePath, 'url'>[];
  readonly assemble: AssemblerKind | undefined;
}

/** How a run is followed whose first answer only promises an output. */
export interface FollowMapping {
  readonly method: string;
  readonly url: Template;
  readonly headers: ReadonlyMap<string, Template>;
  readonly everyMs: number;
  /** undefined: the server is asked again and again until the run has ended. */
  readonly events: EventTypes | undefined;
  /** The run has ended, or has failed, once one of the paths finds something. */
  readonly done: readonly Path[];
  readonly failed: readonly Path[];
  readonly error: readonly Path[];
  readonly log: readonly Path[];
  readonly progress: readonly Path[];
  readonly output: readonly Path[];
  /** The URL of the output; undefined: the answer that ends the run has it. */
  readonly result: Template | undefined;
  readonly files: readonly FilePath[];
  readonly cancel: readonly CancelCall[];
}

/** The types of the events with which the stream of a run ends: with its output, or with its failure. */
export interface EventTypes {
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/**
 * A server that answers a repeated request with the same id by the run in progress, if there is one. Otherwise it
 * starts the run again.
 */
export interface AttachMapping {
  readonly headers: ReadonlyMap<string, Template>;
  readonly cancel: readonly CancelCall[];
}

/** Places of files in an output. */
export interface FilePath {
  readonly path: Path;
  /** Only data URLs are files there; other texts stay, even those that could be read as base64. */
  readonly isDataUrl: boolean;
  /** The place of the file at the server, which may quote what is found at the path; undefined: it is found there. */
  readonly url: Template | undefined;
}

/** A call that cancels a run at its server. */
export interface CancelCall {
  readonly method: string;
  readonly url: Template;
  readonly body: SetValue | undefined;
}

/** How a server shows that it is ready. */
export interface HealthMapping extends HealthCheck {
  /** The server is ready if one of the paths finds something in its answer, too. None: the status 200 is enough. */
  readonly ready: readonly Path[];
}

export interface Mapping {
  readonly request: RequestMapping;
  readonly response: ResponseMapping;
  /** False: the mapping does not describe the answer, which is read as that of a model without a mapping. */
  readonly hasResponse: boolean;
  /**
   * True: `response` has the path of the output in the chunks of a stream. False: lines of JSON are those of this
   * service's own format, and an event stream cannot be read.
   */
  readonly readsStreams: boolean;
  /** undefined: the first answer has the output. */
  readonly follow: FollowMapping | undefined;
  /** undefined: the request, sent again, begins another run. */
  readonly attach: AttachMapping | undefined;
  /** Statuses of a server that takes no further run now. */
  readonly busy: readonly number[];
  /** Statuses that mean that the server is down, if they come at once. undefined: as for any http model. */
  readonly away: readonly number[] | undefined;
  /** undefined: a request shows whether the server is there. */
  readonly health: HealthMapping | undefined;
  /** A stream that is silent for this long is broken. */
  readonly idleTimeoutMs: number | undefined;
}

/** The options of a mapping as `models.yaml` or a preset has them. Each is checked when it is read. */
export interface PlainMapping {
  request?: JsonObject | undefined;
  response?: JsonObject | undefined;
  follow?: JsonObject | undefined;
  attach?: JsonObject | undefined;
  busy?: readonly number[] | undefined;
  away?: readonly number[] | undefined;
  health?: JsonObject | 'off' | undefined;
  /** A duration, or milliseconds. */
  idle_timeout?: string | number | undefined;
}

/** A value of `set`: JSON in which texts are templates. */
export type SetValue =
  Template | number | boolean | null | readonly SetValue[] | ReadonlyMap<string, SetValue>;

type Readers<T> = { [Name in keyof T]: (value: unknown) => T[Name] };

const method = /^[A-Z]{1,20}$/;
/** A value of the header `accept`. */
const mediaTypes = /^[\w.+*-]+\/[\w.+*-]+[\w.+*/;=, -]{0,1000}$/;
const maxHealthUrlLength = 1_000;
/** Headers that say where a body ends. Node adds its own, and throws for a trailer of a body with a length. */
const ofFraming = new Set(['trailer', 'transfer-encoding']);

interface HealthMappingOptions {
  url: string;
  every: number;
  ready: readonly Path[];
}

const requestReaders: Readers<RequestMapping> = {
  method: readMethod,
  url: (value) => readUrl(value, false),
  set: (value) => readSet(value),
  wrap: (value) => {
    if (typeof value === 'string' && value !== '') return value;
    throw new Error('expected the name of a member, such as input');
  },
  headers: (value) => readHeaders(value, false),
  accept: (value) => {
    const kinds = listOf(value);
    if (kinds.length > 0 && kinds.every((kind) => typeof kind === 'string' && mediaTypes.test(kind)))
      return kinds as string[];
    throw new Error('expected media types, such as [text/event-stream, application/json]');
  },
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
  chunks: (value) => {
    if (typeof value === 'boolean') return value;
    throw new Error("expected true if the server's streams are those of OpenAI's API, else false");
  },
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
  files: (value) =>
    listOf(value)
      .map(readFilePath)
      .map(({ url, ...file }) => {
        if (url === undefined) return file;
        throw new Error('"url" of a file is for "follow"; here, files are embedded in the answer');
      }),
  assemble: (value) => {
    const kind = assemblerKinds.find((one) => one === value);
    if (kind !== undefined) return kind;
    throw new Error(`expected one of ${assemblerKinds.join(', ')}`);
  },
};

const followReaders: Readers<Omit<FollowMapping, 'everyMs'>> & { every: (value: unknown) => number } = {
  method: readMethod,
  url: (value) => readUrl(value, true),
  headers: (value) => readHeaders(value, true),
  every: (value) => readEvery(value, '1ms', '2s'),
  events: readEventTypes,
  done: readPaths,
  failed: readPaths,
  error: readPaths,
  log: readPaths,
  progress: readPaths,
  output: readPaths,
  result: (value) => readUrl(value, true),
  files: (value) => listOf(value).map(readFilePath),
  cancel: (value) => listOf(value).map(readCancelCall),
};

const attachReaders: Readers<AttachMapping> = {
  headers: (value) => readHeaders(value, false),
  cancel: (value) => listOf(value).map(readCancelCall),
};

const cancelReaders: Readers<CancelCall> = {
  method: readMethod,
  url: (value) => readUrl(value, true),
  body: (value) => readSet(value, true),
};

const healthReaders: Readers<HealthMappingOptions> = {
  url: (value) => {
    if (typeof value === 'string' && value.length <= maxHealthUrlLength && /^\/(?!\/)/.test(value)) {
      const { pathname, search } = new URL(value, 'http://server');
      return pathname + search;
    }
    throw new Error('expected a path that begins with /, such as /health: only the server itself is asked');
  },
  every: (value) => readEvery(value, '100ms', '5s'),
  ready: readPaths,
};

/** Checks the members of `request`. Throws an `AggregateError` of `EntryFault`s. */
export function checkRequest(value: unknown): JsonObject {
  return checked(value, requestReaders, 'expected a map such as { set: { stream: true } }');
}

/** Checks the members of `response`. Throws an `AggregateError` of `EntryFault`s. */
export function checkResponse(value: unknown): JsonObject {
  return checked(value, responseReaders, 'expected a map such as { error: $.error.message }');
}

/** Checks the members of `follow`. Throws an `AggregateError` of `EntryFault`s. */
export function checkFollow(value: unknown): JsonObject {
  return checked(
    value,
    followReaders,
    "expected a map such as { url: '{base}/jobs/{$.id}', done: $.output }",
  );
}

/** Checks the members of `attach`. Throws an `AggregateError` of `EntryFault`s. */
export function checkAttach(value: unknown): JsonObject {
  return checked(value, attachReaders, "expected a map such as { cancel: { url: '{url}/{run_id}/cancel' } }");
}

/** Checks `health`, which may be `off`. Throws an `AggregateError` of `EntryFault`s. */
export function checkHealth(value: unknown): JsonObject | 'off' {
  if (value === 'off') return value;
  return checked(value, healthReaders, 'expected a map such as { url: /health, every: 5s }, or off');
}

export function checkStatuses(value: unknown): readonly number[] {
  const isStatus = (one: unknown): one is number =>
    Number.isInteger(one) && Number(one) >= 201 && Number(one) <= 599;
  if (Array.isArray(value) && value.every(isStatus)) return value;
  throw new Error('expected a list of HTTP statuses from 201 to 599, such as [409, 429]');
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
      method: read(readMethod, request.method) ?? 'POST',
      url: read(requestReaders.url, request.url),
      set: read(requestReaders.set, request.set),
      wrap: read(requestReaders.wrap, request.wrap),
      headers: read(requestReaders.headers, request.headers) ?? new Map<string, Template>(),
      accept: read(requestReaders.accept, request.accept),
      multipart: read(requestReaders.multipart, request.multipart),
    },
    response: {
      delta: paths('delta'),
      chunks: read(responseReaders.chunks, response.chunks) ?? false,
      log: paths('log'),
      progress: paths('progress'),
      output: paths('output'),
      error: paths('error'),
      retryable: paths('retryable'),
      end: read(responseReaders.end, response.end) ?? { paths: [], texts: [] },
      usage: paths('usage'),
      files: read(responseReaders.files, response.files) ?? [],
      assemble: read(responseReaders.assemble, response.assemble),
    },
    follow: followOf(overridden(preset.follow, plain.follow)),
    attach: (preset.attach ?? plain.attach) && attachOf(overridden(preset.attach, plain.attach)),
    hasResponse: preset.response !== undefined || plain.response !== undefined,
    readsStreams: [response.delta, response.output, response.assemble].some(
      (option) => option !== undefined && option !== null,
    ),
    busy: merged.busy ?? [],
    away: merged.away,
    health: plain.health === 'off' ? undefined : healthOf(overridden(preset.health as object, plain.health)),
    idleTimeoutMs: read(millisecondsOf, merged.idle_timeout),
  };
}

/** Options of a run that is asked for again and again. */
const ofPolls = ['done', 'failed', 'error', 'log', 'progress', 'result', 'cancel'] as const;

/** undefined: the model is not followed. */
function followOf(plain: JsonObject): FollowMapping | undefined {
  if (Object.keys(plain).length === 0) return undefined;
  const readers: Record<string, (value: unknown) => unknown> = followReaders;
  const options = Object.entries(plain).filter(([, value]) => value !== null);
  const {
    every = 1_000,
    url,
    ...others
  } = Object.fromEntries(options.map(([name, value]) => [name, readers[name]!(value)])) as Partial<
    FollowMapping & { every: number }
  >;
  const { done, events } = others;
  if (url === undefined || (done ?? events) === undefined)
    throw new Error(
      `"follow" needs "url" and "done" or "events", such as { url: '{base}/jobs/{$.id}', done: $.output }`,
    );
  const idle = ofPolls.find((name) => events !== undefined && name in others);
  if (idle !== undefined) throw new Error(`"${idle}" of "follow" is not for a run whose "events" are read`);
  const none: readonly Path[] = [];
  return {
    method: 'GET',
    headers: new Map(),
    failed: none,
    error: none,
    log: none,
    progress: none,
    output: none,
    events: undefined,
    result: undefined,
    files: [],
    cancel: [],
    ...others,
    done: done ?? none,
    url,
    everyMs: every,
  };
}

function attachOf({ headers, cancel }: JsonObject): AttachMapping {
  return {
    headers: readHeaders(headers ?? {}, false),
    cancel: cancel === undefined || cancel === null ? [] : attachReaders.cancel(cancel),
  };
}

/** undefined: no health is asked for. */
function healthOf(plain: JsonObject): HealthMapping | undefined {
  const { url, every, ready } = plain;
  if (Object.keys(plain).length === 0) return undefined;
  if (url === undefined || url === null)
    throw new Error('"health" needs "url", such as { url: /health, every: 5s }');
  return {
    path: healthReaders.url(url),
    everyMs: healthReaders.every(every ?? '5s'),
    ready: ready === undefined || ready === null ? [] : healthReaders.ready(ready),
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

/** Reads the time between two calls: from `min` to an hour. */
function readEvery(value: unknown, min: string, example: string): number {
  const ms = typeof value === 'string' || typeof value === 'number' ? parseDuration(String(value)) : 0;
  if (ms >= parseDuration(min) && ms <= 3_600_000) return ms;
  throw new Error(`expected a duration from ${min} to 1h, such as ${example}`);
}

function millisecondsOf(value: unknown): number {
  return typeof value === 'number' ? value : parseDuration(String(value));
}

function readMethod(value: unknown): string {
  if (typeof value === 'string' && method.test(value)) return value;
  throw new Error('expected an HTTP method such as POST or PUT');
}

/** Reads a URL at the origin of the model. */
function readUrl(value: unknown, mayQuoteAnswer: boolean): Template {
  if (typeof value !== 'string' || !/^(?:\{base\}|\{url\}|(?=\/))(?:[/?]|$)/.test(value))
    throw new Error(
      'expected a URL that begins with {base}/, {url} or /, because only the server of "url" is asked',
    );
  return Template.read(value, { mayQuoteAnswer });
}

function readHeaders(value: unknown, mayQuoteAnswer: boolean): ReadonlyMap<string, Template> {
  return new Map(
    entriesOf(value, 'expected a map of header names and texts').map(([name, text]) => {
      try {
        validateHeaderName(name);
      } catch {
        throw new Error(`"${name}" is not the name of a header`);
      }
      if (ofFraming.has(name.toLowerCase())) throw new Error(`"${name}" is set by the service itself`);
      return [
        name.toLowerCase(),
        Template.read(typeof text === 'number' ? String(text) : text, { mayQuoteAnswer }),
      ];
    }),
  );
}

/** Reads a path, or a map of a path with `url` or `data_urls`. */
function readFilePath(value: unknown): FilePath {
  if (!isObject(value) || value.in !== undefined)
    return { path: readPath(value), isDataUrl: false, url: undefined };
  const { path, url, data_urls: isDataUrl = false, ...others } = value;
  if (typeof isDataUrl !== 'boolean' || Object.keys(others).length > 0)
    throw new Error(
      "expected a JSONPath, or a map such as { path: '$.files[*]', url: '{base}/files/{$.name}' } or { path: $, data_urls: true }",
    );
  return { path: readPath(path), isDataUrl, url: url === undefined ? undefined : readUrl(url, true) };
}

function readEventTypes(value: unknown): EventTypes {
  const isName = (name: unknown): name is string => typeof name === 'string' && /^\S.{0,99}$/.test(name);
  const { done, failed = [], ...others } = isObject(value) ? value : {};
  const [ends, failures] = [listOf(done), listOf(failed)];
  if (ends.every(isName) && failures.every(isName) && Object.keys(others).length === 0)
    return { done: ends, failed: failures };
  throw new Error('expected the types of events, such as { done: complete, failed: error }');
}

function readCancelCall(value: unknown): CancelCall {
  const expected = "expected a map such as { method: DELETE, url: '{base}/jobs/{$.id}' }";
  const { method: how, url, body } = checked(value, cancelReaders, expected);
  if (url === undefined) throw new Error(expected);
  return {
    method: how === undefined ? 'POST' : readMethod(how),
    url: readUrl(url, true),
    body: body === undefined ? undefined : readSet(body, true),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

function readSet(value: unknown, mayQuoteAnswer = false): SetValue {
  if (!isObject(value)) throw new Error('expected a map of members, such as { stream: true }');
  return readSetValue(value, mayQuoteAnswer);
}

function readSetValue(value: unknown, mayQuoteAnswer: boolean): SetValue {
  if (typeof value === 'string') return Template.read(value, { mayQuoteAnswer });
  if (Array.isArray(value)) return value.map((one) => readSetValue(one, mayQuoteAnswer));
  if (isObject(value))
    return new Map(Object.entries(value).map(([name, one]) => [name, readSetValue(one, mayQuoteAnswer)]));
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
