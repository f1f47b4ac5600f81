import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { v5 } from 'uuid';
import { isContentType } from '../../files/file-name.js';
import { type Files, otherType } from '../../files/files.js';
import type { JsonThreads } from '../../json/json-threads.js';
import { type BodyAsk, bodyOf, type FoundPart } from '../../json/mapped-json.js';
import { plainPath } from '../../json/paths.js';
import { maxInlineBytes } from '../../models/input-schemas.js';
import { type Run, RunFailure } from '../../queue/runs/runner.js';
import { inThread } from '../output.js';
import type { FollowMapping, RequestMapping, SetValue } from './mapping.js';
import { Template, type TemplateValues } from './templates.js';

/** The body of a request to a server, with its media type. */
export interface RequestBody {
  readonly contentType: string;
  readonly body: string | Buffer | (() => Readable);
  /** Bytes of a body that is read while it is sent. */
  readonly length?: number;
  /** Returns why such a body could not be read to its end. */
  readonly fault?: () => RunFailure | undefined;
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
export function templatesThatFollow(follow: FollowMapping): Template[] {
  return [follow.url, ...present(follow.result), ...templatesThatCancel(follow)];
}

export function templatesThatCancel({
  headers,
  cancel,
}: Pick<FollowMapping, 'headers' | 'cancel'>): Template[] {
  const cancels = cancel.flatMap(({ url, body }) => [url, ...(body === undefined ? [] : templatesOf(body))]);
  return [...headers.values(), ...cancels];
}

const present = (template: Template | undefined): Template[] => (template === undefined ? [] : [template]);

/** Returns path and query of a URL at the model's origin. */
export function pathFor(template: Template, values: TemplateValues): string {
  const text = template.render(values, inUrl);
  const { pathname, search } = new URL(text.startsWith('/') ? values.base + text : text);
  return pathname + search;
}

function inUrl(value: string): string {
  // Even encoded, they would name another folder.
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

/** Returns the body for a run: its input, changed by the mapping. A large one is changed in a thread. */
export async function bodyFor(
  run: Pick<Run, 'input' | 'model'>,
  { set, wrap, multipart }: RequestMapping,
  values: TemplateValues,
  files: Files,
  threads: JsonThreads,
): Promise<RequestBody> {
  if (set === undefined && multipart === undefined) return jsonBody(run.input, wrap);
  const ask: BodyAsk = {
    set: set === undefined ? undefined : rendered(set, values),
    multipart: multipart && [...multipart],
  };
  const [parts, bytes] = await changed(run, ask, threads);
  return parts === undefined ? jsonBody(bytes, wrap) : formBody(await partsOf(parts, bytes, files));
}

async function changed(
  run: Pick<Run, 'input' | 'model'>,
  ask: BodyAsk,
  threads: JsonThreads,
): Promise<[FoundPart[] | undefined, Buffer]> {
  if (run.input.length <= maxInlineBytes) return bodyOf(run.input, ask);
  const multipart = ask.multipart?.map(
    ([name, from]) => [name, typeof from === 'string' ? from : plainPath(from)] as const,
  );
  const [{ parts }, bytes] = await inThread(
    threads,
    'body',
    { ...ask, multipart },
    Buffer.from(run.input),
    run,
  );
  return [parts, bytes];
}

function jsonBody(json: string | Buffer, wrap: string | undefined): RequestBody {
  const contentType = 'application/json';
  if (wrap === undefined) return { contentType, body: json };
  const before = `{${JSON.stringify(wrap)}:`;
  if (typeof json === 'string') return { contentType, body: `${before}${json}}` };
  return { contentType, body: Buffer.concat([Buffer.from(before), json, Buffer.from('}')]) };
}

interface Part {
  readonly head: string;
  readonly length: number;
  readonly chunks: () => AsyncIterable<Buffer> | Promise<AsyncIterable<Buffer>>;
}

/** `bytes`: the embedded files, one after another. */
async function partsOf(found: readonly FoundPart[], bytes: Buffer, files: Files): Promise<Part[]> {
  const parts: Part[] = [];
  let from = 0;
  for (const part of found) {
    const { name } = part;
    if ('text' in part) parts.push(textPart(name, part.text));
    else if ('value' in part) parts.push(await partOf(name, part.value, files));
    else {
      const file = bytes.subarray(from, from + part.length);
      from += part.length;
      parts.push(filePart(name, 'file', part.contentType, file.length, () => once(file)));
    }
  }
  return parts;
}

/** A file of this service becomes a file; another text is sent as it is, unless it is a URL. */
async function partOf(name: string, value: string, files: Files): Promise<Part> {
  const own = await files.named(value);
  if (own !== undefined) {
    const { name: fileName, contentType, size } = own.file;
    return filePart(name, fileName, contentType, size, own.read);
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
  // The type in a data URL is a text of the caller, which could add headers and parts.
  const type = isContentType(contentType) ? contentType : otherType;
  const head = `content-disposition: form-data; name="${quoted(name)}"; filename="${quoted(fileName)}"\r\ncontent-type: ${type}\r\n\r\n`;
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
  let fault: RunFailure | undefined;
  async function* chunks(): AsyncGenerator<Buffer> {
    for (const part of parts) {
      yield headOf(part);
      try {
        yield* await part.chunks();
      } catch (cause) {
        fault = new RunFailure('A file of the input cannot be read now.', { retryable: true, cause });
        throw fault;
      }
      yield Buffer.from('\r\n');
    }
    yield end;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: () => Readable.from(chunks()),
    length,
    fault: () => fault,
  };
}
