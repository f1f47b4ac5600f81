import { NowServingError } from './errors.js';
import type { Transport } from './transport.js';
import type { UploadOptions } from './types.js';

const otherType = 'application/octet-stream';

/** A file to upload, by its path or as a stream. Its bytes are read when they are needed. */
export class LocalFile {
  /** `source`: a path (in Node), or a stream, which can be read only once. */
  constructor(
    readonly source: string | ReadableStream<Uint8Array>,
    readonly name: string,
    readonly type: string,
  ) {}

  /** Returns the body of an upload. */
  async open(): Promise<Blob | ReadableStream<Uint8Array>> {
    return typeof this.source === 'string' ? blobAt(this.source) : this.source;
  }

  get isRepeatable(): boolean {
    return typeof this.source === 'string';
  }
}

/**
 * Returns a file for an input: a path (in Node), or a stream with a name. It is uploaded when the request is submitted.
 */
export function file(
  source: string | URL | ReadableStream<Uint8Array>,
  { name, type }: { name?: string | undefined; type?: string | undefined } = {},
): LocalFile {
  if (source instanceof ReadableStream) return new LocalFile(source, name ?? 'file', type ?? otherType);
  const path = typeof source === 'string' ? source : decodeURIComponent(source.pathname);
  const ownName = name ?? path.split(/[/\\]/).at(-1)!;
  return new LocalFile(path, ownName, type ?? types[/[^.]*$/.exec(path)![0].toLowerCase()] ?? otherType);
}

/** Media types by file extension. Other files are sent as plain bytes. */
const types: Readonly<Record<string, string>> = {
  gif: 'image/gif',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ndjson: 'application/x-ndjson',
  pdf: 'application/pdf',
  png: 'image/png',
  svg: 'image/svg+xml',
  txt: 'text/plain',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
};

type Uploadable = Blob | LocalFile;

/** Uploads the files in an input and replaces them with their URLs. */
export class Uploads {
  constructor(private readonly transport: Transport) {}

  /** Returns the URL under which the service stores the file. */
  async upload(content: Uploadable, { signal, ...given }: UploadOptions = {}): Promise<string> {
    const type = given.type ?? (content.type || otherType);
    const name = given.name ?? ('name' in content ? content.name : 'file');
    const { body } = await this.transport.send<{ file_url: string; upload_url: string }>({
      method: 'POST',
      path: ['storage', 'upload', 'initiate'],
      body: { content_type: type, file_name: name },
      signal,
    });
    const isLocal = content instanceof LocalFile;
    await this.transport.put(body.upload_url, {
      open: () => (isLocal ? content.open() : Promise.resolve(content)),
      isRepeatable: !isLocal || content.isRepeatable,
      type,
      signal,
    });
    return body.file_url;
  }

  /** Returns the input itself if there is nothing to upload. */
  async in<Input>(input: Input, signal: AbortSignal | undefined): Promise<Input> {
    const found = new Map<Uploadable, Promise<string>>();
    collect(input, (content) => found.set(content, Promise.resolve('')));
    if (found.size === 0) return input;
    for (const content of found.keys()) found.set(content, this.upload(content, { signal }));
    const urls = new Map<unknown, string>();
    await Promise.all([...found].map(async ([content, url]) => urls.set(content, await url)));
    return replaced(input, urls) as Input;
  }
}

const isUploadable = (value: unknown): value is Uploadable =>
  value instanceof LocalFile || (typeof Blob !== 'undefined' && value instanceof Blob);

/** Returns whether a value is an array or a plain object. Other objects define their JSON by `toJSON`. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function collect(value: unknown, add: (content: Uploadable) => void): void {
  if (isUploadable(value)) add(value);
  else if (isPlain(value)) for (const part of Object.values(value)) collect(part, add);
}

function replaced(value: unknown, urls: ReadonlyMap<unknown, string>): unknown {
  if (urls.has(value)) return urls.get(value);
  if (!isPlain(value)) return value;
  if (Array.isArray(value)) return value.map((part) => replaced(part, urls));
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, replaced(part, urls)]));
}

interface FileSystem {
  openAsBlob(path: string): Promise<Blob>;
}

/**
 * Returns a Blob that is read from disk while it is sent. There is no `import`, because bundlers for browsers would
 * follow it.
 */
async function blobAt(path: string): Promise<Blob> {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): unknown } };
  const system = process?.getBuiltinModule?.('node:fs') as FileSystem | undefined;
  if (system === undefined) throw new TypeError('A path can be read only in Node. Give a Blob or a File.');
  try {
    return await system.openAsBlob(path);
  } catch (cause) {
    throw new NowServingError('unreadable_file', `The file ${path} cannot be read.`, { cause });
  }
}
