import { createWriteStream, openAsBlob } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { pause } from '../deadline.js';
import { Backoff } from './backoff.js';
import { type Answer, answerOf, isSuccess, type WorkerCalls } from './calls.js';
import { Fail } from './failures.js';

const maxTries = 6;
const maxPauseMs = 8_000;
const maxRedirects = 5;
const ownFile = /^\/v1\/(files|worker)\//;

export interface FileAccess {
  calls: WorkerCalls;
  requestId: string;
  leaseToken: string;
  /** Other origins that may be asked. */
  downloads: readonly string[];
  signal: AbortSignal;
}

/** What a file of ours is fetched from, and whether the key goes along; nothing else is asked unless it is allowed. */
export function sourceOf(
  url: string,
  base: string,
  downloads: readonly string[],
): { url: URL; isOurs: boolean } {
  const to = new URL(url, base);
  const isHttp = to.protocol === 'http:' || to.protocol === 'https:';
  const isOurs = to.origin === new URL(base).origin;
  if (isHttp && isOurs) return { url: to, isOurs };
  if (isHttp && (downloads.includes('*') || downloads.includes(to.origin))) return { url: to, isOurs };
  // The service may be known to callers by another address than to its workers.
  if (isHttp && ownFile.test(to.pathname))
    return { url: new URL(to.pathname + to.search, base), isOurs: true };
  const origin = to.origin === 'null' ? to.protocol : to.origin;
  throw new Fail(
    `Nothing is downloaded from ${origin}. The worker's option "downloads" allows other origins.`,
  );
}

/** Tried again where that may help; `to`: into that file. */
export async function download(url: string, access: FileAccess, to?: string): Promise<Uint8Array | string> {
  return withTries(access.signal, async () => {
    const response = await followed(url, access);
    if (!response.ok)
      throw statusError(
        { status: response.status },
        `${new URL(response.url).origin} answered ${response.status}`,
      );
    if (to === undefined) return new Uint8Array(await response.arrayBuffer());
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(to), {
      signal: access.signal,
    });
    return to;
  });
}

/** Redirects lead nowhere that might not be asked itself. */
async function followed(
  url: string,
  { calls, leaseToken, downloads, signal }: FileAccess,
): Promise<Response> {
  let next = url;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const source = sourceOf(next, calls.base, downloads);
    const headers = source.isOurs ? { ...calls.authorization, 'lease-token': leaseToken } : {};
    const response = await fetch(source.url, { headers, signal, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) return response;
    await response.body?.cancel();
    next = new URL(location, source.url).href;
  }
  throw new Fail('The download was redirected too often.');
}

export async function upload(
  name: string,
  content: Uint8Array | Blob | string,
  contentType: string | undefined,
  { calls, requestId, leaseToken, signal }: FileAccess,
): Promise<string> {
  const body = typeof content === 'string' ? await openAsBlob(content) : content;
  const type = contentType ?? ((body instanceof Blob && body.type) || typeOf(name));
  const call = {
    method: 'POST' as const,
    path: `/runs/${requestId}/files`,
    body: JSON.stringify({ content_type: type, file_name: basename(name) }),
    leaseToken,
    signal,
  };
  return withTries(signal, async () => {
    const answer = await calls.once(call);
    if (!isSuccess(answer)) throw refusal(answer, name);
    const { file_url, upload_url } = answer.body as { file_url: string; upload_url: string };
    const headers = { 'content-type': type };
    const response = await fetch(new URL(upload_url, calls.base), { method: 'PUT', headers, body, signal });
    if (!response.ok) throw refusal(await answerOf(response), name);
    await response.body?.cancel();
    return file_url;
  });
}

class StatusError extends Error {
  constructor(
    message: string,
    readonly isPassing: boolean,
    /** The service has no room for the file now: it is kept, and sent again as long as the run goes on. */
    readonly keepS: number | undefined,
  ) {
    super(message);
  }
}

const statusError = (
  { status, retryAfterS }: Pick<Answer, 'status' | 'retryAfterS'>,
  said: string,
): StatusError =>
  new StatusError(
    said,
    status >= 500 || [408, 409, 425, 429].includes(status),
    [503, 507].includes(status) ? retryAfterS : undefined,
  );

/** Of an upload. Where the fault is with the file no other attempt would do better; a key or URL may be valid again. */
function refusal(answer: Answer, name: string): Error {
  const { status, detail = `The service answered ${status}.` } = answer;
  const error = statusError(answer, `The upload of ${basename(name)} was refused: ${detail}`);
  const isFinal = !error.isPassing && status >= 400 && ![401, 403].includes(status);
  return isFinal ? new Fail(error.message) : error;
}

async function withTries<T>(signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const backoff = new Backoff(maxPauseMs);
  for (let tried = 1; ;) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof StatusError && error.keepS !== undefined) {
        await pause(error.keepS * 1_000, signal);
        signal.throwIfAborted();
        continue;
      }
      const isFinal = error instanceof Fail || (error instanceof StatusError && !error.isPassing);
      if (isFinal || tried === maxTries || isLocal(error)) throw error;
      tried++;
      await pause(backoff.next(), signal);
    }
  }
}

/** No such file, no room on the disk: another try would meet the same. */
const isLocal = (error: unknown): boolean => (error as NodeJS.ErrnoException | null)?.syscall === 'open';

const types: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  mp4: 'video/mp4',
  webm: 'video/webm',
  pdf: 'application/pdf',
  json: 'application/json',
  txt: 'text/plain',
};

/** By the end of a file's name. */
export const typeOf = (name: string): string =>
  types[extname(name).slice(1).toLowerCase()] ?? 'application/octet-stream';
