import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { v5 } from 'uuid';
import type { Files } from '../../files/files.js';
import { type Run, RunFailure } from '../../queue/runs/runner.js';
import { mergePatch } from '../../tools/merge-patch.js';
import { isObject } from './assemblers.js';
import { fileBytes } from './embedded-file.js';
import type { FollowMapping, RequestMapping, SetValue } from './mapping.js';
import { firstAt, nodesAt } from './paths.js';
import { Template, type TemplateValues } from './templates.js';

/** The body of a request to a server, with its media type. */
export interface RequestBody {
  readonly contentType: string;
  readonly body: string | (() => Readable);
  /** Bytes of a body that is read while it is sent. */
  readonly length?: number;
}

/** Returns the values of the placeholders for a run that is sent to `url`. */
export async function valuesFor(
  run: Pick<Run, 'requestId' | 'attempt' | 'start' | 'facts'>,
  address: string,
  templates: readonly Template[],
): Promise<TemplateValues> {
  const asks = templates.some((template) => template.asksForRequest);
  const { key, priority, tags } = asks ? await run.facts() : nobody;
  const { origin, pathname } = new URL(address);
  return {
    request_id: run.requestId,
    run_id: v5(String(run.start), run.requestId),
    attempt: String(run.attempt),
    key,
    priority,
    tags,
    base: origin,
    url: origin + pathname.replace(/\/$/, ''),
  };
}

const nobody = { key: '', priority: '', tags: new Map<string, string>() };

/** Returns all templates of a mapping's request. */
export function templatesIn({ url, set, headers }: RequestMapping): Template[] {
  return [...present(url), ...headers.values(), ...(set === undefined ? [] : templatesOf(set))];
}

/** Returns the templates that follow or cancel a run, except those of files, which quote their own places. */
export function templatesThatFollow({ url, headers, result, cancel }: FollowMapping): Template[] {
  const cancels = cancel.flatMap((call) => [
    call.url,
    ...(call.body === undefined ? [] : templatesOf(call.body)),
  ]);
  return [url, ...headers.values(), ...present(result), ...cancels];
}

const present = (template: Template | undefined): Template[] => (template === undefined ? [] : [template]);

/** Returns path and query of a URL at the model's origin. */
export function pathFor(template: Template, values: TemplateValues): string {
  const text = template.render(values, inUrl);
  const { pathname, search } = new URL(text.startsWith('/') ? values.base + text : text);
  return pathname + search;
}

function inUrl(value: string): string {
  // Even encoded, they would stand for another folder.
  if (value === '.' || value === '..') throw new RunFailure(`The URL of a call would contain "${value}".`);
  return encodeURIComponent(value);
}

function templatesOf(value: SetValue): Template[] {
  if (value instanceof Template) return [value];
  if (value instanceof Map) return [...value.values()].flatMap(templatesOf);
  return Array.isArray(value) ? value.flatMap(templatesOf) : [];
}

export function rendered(value: SetValue, values: TemplateValues): unknown {
  if (value instanceof Template) return value.render(values);
  if (value instanceof Map)
    return Object.fromEntries([...value].map(([name, one]) => [name, rendered(one as SetValue, values)]));
  return Array.isArray(value) ? value.map((one: SetValue) => rendered(one, values)) : value;
}

/** Renders the headers. A value that no header may hold is the failure of the request. */
export function headersFor(
  { headers }: Pick<RequestMapping, 'headers'>,
  values: TemplateValues,
): Record<string, string> {
  return Object.fromEntries(
    [...headers].map(([name, template]) => {
      const text = template.render(values);
      if (/^[\x20-\x7e]*$/.test(text)) return [name, text];
      throw new RunFailure(`The header ${name} would hold characters that are not printable ASCII.`);
    }),
  );
}

/** Returns the body for a run: its input, changed as the mapping says. */
export async function bodyFor(
  { input: json }: Pick<Run, 'input'>,
  { set, wrap, multipart }: RequestMapping,
  values: TemplateValues,
  files: Files,
): Promise<RequestBody> {
  if (set === undefined && multipart === undefined) return jsonBody(json, wrap);
  const input: unknown = JSON.parse(json);
  const merged = set === undefined ? input : mergePatch(input, rendered(set, values));
  if (multipart === undefined) return jsonBody(JSON.stringify(merged), wrap);
  return formBody(await partsOf(merged, multipart, files));
}

function jsonBody(json: string, wrap: string | undefined): RequestBody {
  return {
    contentType: 'application/json',
    body: wrap === undefined ? json : `{${JSON.stringify(wrap)}:${json}}`,
  };
}

interface Part {
  readonly head: string;
  readonly length: number;
  readonly chunks: () => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;
}

async function partsOf(
  input: unknown,
  multipart: NonNullable<RequestMapping['multipart']>,
  files: Files,
): Promise<Part[]> {
  const parts: Part[] = [];
  /** Members of the input that have parts of their own. */
  const used = new Set<unknown>();
  for (const [name, from] of multipart) {
    if (name === '*') continue;
    if (typeof from === 'string') parts.push(textPart(name, from));
    else
      for (const { location, value } of nodesAt(from, input)) {
        used.add(location[0]);
        parts.push(await partOf(name, value, files));
      }
  }
  const others = multipart.get('*');
  const object = others === undefined || typeof others === 'string' ? undefined : firstAt([others], input);
  if (isObject(object))
    for (const [name, value] of Object.entries(object))
      if (!used.has(name) && !multipart.has(name) && value !== null)
        for (const one of Array.isArray(value) ? (value as unknown[]) : [value])
          parts.push(fieldPart(name, one, Array.isArray(value)));
  return parts;
}

function fieldPart(name: string, value: unknown, isListed: boolean): Part {
  return textPart(isListed ? `${name}[]` : name, typeof value === 'string' ? value : JSON.stringify(value));
}

/** A file of this service or a data URL becomes a file; another text is sent as it is, unless it is a URL. */
async function partOf(name: string, value: unknown, files: Files): Promise<Part> {
  if (typeof value !== 'string') return fieldPart(name, value, false);
  const own = await files.named(value);
  if (own !== undefined) {
    const { name: fileName, contentType, size } = own.file;
    return filePart(name, fileName, contentType, size, own.read);
  }
  const embedded = value.startsWith('data:') ? fileBytes(value) : undefined;
  if (embedded !== undefined) {
    const { bytes, contentType } = embedded;
    return filePart(name, 'file', contentType, bytes.length, () => once(bytes));
  }
  if (/^https?:\/\//i.test(value))
    throw new RunFailure(
      `The input names a file by a URL of another service ("${name}"). Upload the file to this service, or send a data URL.`,
    );
  return textPart(name, value);
}

const quoted = (text: string): string =>
  text.replace(/["\r\n]/g, (character) => encodeURIComponent(character));

function textPart(name: string, text: string): Part {
  const bytes = Buffer.from(text);
  const head = `content-disposition: form-data; name="${quoted(name)}"\r\n\r\n`;
  return { head, length: bytes.length, chunks: () => once(bytes) };
}

function filePart(
  name: string,
  fileName: string,
  contentType: string,
  length: number,
  chunks: Part['chunks'],
): Part {
  const head = `content-disposition: form-data; name="${quoted(name)}"; filename="${quoted(fileName)}"\r\ncontent-type: ${contentType}\r\n\r\n`;
  return { head, length, chunks };
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** Returns a form (RFC 7578) whose files are read while it is sent. */
function formBody(parts: readonly Part[]): RequestBody {
  const boundary = `nowserving-${randomBytes(16).toString('hex')}`;
  const headOf = ({ head }: Part): Buffer => Buffer.from(`--${boundary}\r\n${head}`);
  const end = Buffer.from(`--${boundary}--\r\n`);
  const length = parts.reduce((sum, part) => sum + headOf(part).length + part.length + 2, end.length);
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      yield headOf(part);
      yield* await part.chunks();
      yield Buffer.from('\r\n');
    }
    yield end;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: () => Readable.from(chunks()),
    length,
  };
}
