import { openAsBlob } from 'node:fs';
import { basename, extname } from 'node:path';
import { type Deadline, pause } from '../deadline.js';
import { isUnreadable, secondsOf } from '../transport.js';
import { type Answered, Arrival, reasonOf, silenceMs } from './arrival.js';
import { Backoff } from './backoff.js';
import { type Answer, answerOf, isSuccess, type WorkerCalls } from './calls.js';
import { Broken, Fail, missing, TransferError } from './failures.js';

/** Tries in a row without progress after which a transfer fails, unless the service is away. */
const maxTries = 6;
const maxPauseMs = 8_000;
const maxRedirects = 5;
const ownPath = /^\/v1\/(files|worker)\//;
const uploadPath = /\/v1\/storage\/uploads\/[^/]+$/;
/** A segment of dots, which something between worker and service may resolve even if it is encoded. */
const dots = /(\/|%2f|%5c)(\.|%2e){1,2}(\/|%2f|%5c|$)/i;

export interface FileAccess {
  calls: WorkerCalls;
  requestId: string;
  leaseToken: string;
  /** Other origins from which downloads are allowed. */
  downloads: readonly string[];
  /** Ends downloads. */
  signal: AbortSignal;
  /** Ends uploads. A cancel does not, because the run may still have an output. */
  useless: AbortSignal;
}

/**
 * Returns the URL that a file is fetched from, and whether the key is sent with the call. It is sent to no other paths
 * of the service than those of files and inputs. Anything else must be allowed.
 */
export function sourceOf(
  url: string,
  base: string,
  downloads: readonly string[],
): { url: URL; isOurs: boolean } {
  const to = validUrl(url, base);
  if (to.username !== '' || to.password !== '')
    throw new Fail('Nothing is downloaded from a URL that holds a name or a password.');
  const isHttp = to.protocol === 'http:' || to.protocol === 'https:';
  const isThere = to.origin === new URL(base).origin;
  const root = rootOf(base);
  const path = isThere && to.pathname.startsWith(`${root}/`) ? to.pathname.slice(root.length) : to.pathname;
  const isOurs = isHttp && ownPath.test(path) && !dots.test(path);
  const ours = atBase(base, path, to.search);
  if (isOurs && isThere) return { url: ours, isOurs };
  if (isHttp && (downloads.includes('*') || downloads.includes(to.origin))) return { url: to, isOurs: false };
  if (isOurs) return { url: ours, isOurs };
  if (isThere) throw new Fail('Nothing is downloaded from the service except files.');
  const origin = to.origin === 'null' ? to.protocol : to.origin;
  throw new Fail(
    `Nothing is downloaded from ${origin}. The worker's option "downloads" allows other origins.`,
  );
}

/** Returns the URL that a file is sent to. */
export function targetOf(url: string, base: string): URL {
  const to = new URL(url, base);
  const path = uploadPath.exec(to.pathname)?.[0];
  return path === undefined ? to : atBase(base, path, to.search);
}

/** Returns a URL of the service at the worker's own address. Others may reach the service at another one. */
function atBase(base: string, path: string, search: string): URL {
  const url = new URL(base);
  url.pathname = rootOf(base) + path;
  url.search = search;
  return url;
}

const rootOf = (base: string): string => new URL(base).pathname.replace(/\/+$/, '');

function validUrl(url: string, base: string): URL {
  try {
    return new URL(url, base);
  } catch {
    throw new Fail('A URL that is to be downloaded is not valid.');
  }
}

/**
 * Downloads a whole file or fails. A broken transfer resumes where it was, or starts again. `to`: the file to write.
 */
export async function download(url: string, access: FileAccess, to?: string): Promise<Uint8Array | string> {
  const { isOurs } = sourceOf(url, access.calls.base, access.downloads);
  const arrival = await Arrival.begin(to);
  try {
    const attempt = (): Promise<void> =>
      arrival.take((fields, deadline) => followed(url, access, fields, deadline), access.signal);
    await persist(attempt, { signal: access.signal, isOurs, size: () => arrival.size });
    return await arrival.whole();
  } finally {
    await arrival.end();
  }
}

/** Follows redirects only to addresses that could be requested directly. */
async function followed(
  url: string,
  { calls, leaseToken, downloads }: FileAccess,
  fields: Record<string, string>,
  deadline: Deadline,
): Promise<Answered> {
  let next = url;
  for (let hops = 0; hops <= maxRedirects; hops++) {
    const { url: source, isOurs } = sourceOf(next, calls.base, downloads);
    const own = isOurs ? { ...calls.authorization, 'lease-token': leaseToken } : {};
    const response = await asked(source, { headers: { ...own, ...fields }, redirect: 'manual' }, deadline);
    const location = response.headers.get('location');
    const isRedirect = response.status >= 300 && response.status <= 399 && location !== null;
    if (!isRedirect) return { response: await checked(response, new URL(url, calls.base)), isOurs };
    await response.body?.cancel();
    next = validUrl(location, source.href).href;
  }
  throw new Fail('The download was redirected too often.');
}

/** Fetches a file from any address, with one try. */
export async function downloadOnce(url: string, to?: string): Promise<Uint8Array | string> {
  const arrival = await Arrival.begin(to);
  try {
    await arrival.take(async (headers, deadline) => ({
      response: await checked(await asked(new URL(url), { headers }, deadline), new URL(url)),
      isOurs: false,
    }));
    return await arrival.whole();
  } catch (error) {
    throw error instanceof Broken ? finalOf(error) : error;
  } finally {
    await arrival.end();
  }
}

async function asked(url: URL, init: RequestInit, deadline: Deadline): Promise<Response> {
  deadline.start(silenceMs);
  return fetch(url, { ...init, signal: deadline.signal }).catch((error: unknown) => {
    throw new Broken(`The download got no answer: ${deadline.isOver ? 'it took 60 s' : reasonOf(error)}`);
  });
}

async function checked(response: Response, url: URL): Promise<Response> {
  const { status, ok, headers } = response;
  if (ok || status === 416) return response;
  await response.body?.cancel().catch(() => undefined);
  const said = `The download was answered ${status}.`;
  if (missing.includes(status)) throw new TransferError(`${said} ${shown(url)} does not exist.`, { status });
  if (!isPassing(status)) throw new TransferError(said, { status });
  throw new Broken(said, {
    status,
    isAway: isAway(status),
    retryAfterS: secondsOf(headers.get('retry-after')),
  });
}

/** Names a file by what is no secret: its URL may be the right to read it. */
function shown({ pathname, origin }: URL): string {
  const name = /^\/v1\/files\/[^/]+\/([^/]+)$/.exec(pathname)?.[1];
  return name === undefined ? `A file of ${origin}` : `The file "${readable(name).slice(0, 200)}"`;
}

function readable(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

export async function upload(
  name: string,
  content: Uint8Array | Blob | string,
  contentType: string | undefined,
  { calls, requestId, leaseToken, useless: signal }: FileAccess,
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
  const attempt = async (): Promise<string> => {
    const answer = await calls.once(call).catch((error: unknown) => {
      throw new Broken(`The service does not answer: ${reasonOf(error)}`);
    });
    if (!isSuccess(answer)) throw refusal(answer, name);
    const { file_url, upload_url } = answer.body as { file_url: string; upload_url: string };
    const kept = await put(targetOf(upload_url, calls.base), { body, type, name, signal });
    if (!isSuccess(kept)) throw refusal(kept, name);
    const size = body instanceof Blob ? body.size : body.byteLength;
    if ((kept.body['size'] ?? size) !== size) {
      throw new Broken(`The service did not store ${basename(name)} as it was sent: its size differs.`, {
        isAway: false,
      });
    }
    return file_url;
  };
  return persist(attempt, { signal, isOurs: true });
}

async function put(
  url: URL,
  { body, type, name, signal }: { body: Uint8Array | Blob; type: string; name: string; signal: AbortSignal },
): Promise<Answer> {
  try {
    const headers = { 'content-type': type };
    return await answerOf(await fetch(url, { method: 'PUT', headers, body, signal }));
  } catch (error) {
    const { cause } = error as Error;
    if (isUnreadable(cause)) {
      const said = `The file ${basename(name)} changed while it was uploaded, or cannot be read.`;
      throw new TransferError(`${said} Upload files only after they are written and closed.`, { cause });
    }
    throw new Broken(`The upload of ${basename(name)} broke off: ${reasonOf(error)}`);
  }
}

const isPassing = (status: number): boolean => status >= 500 || [408, 409, 425, 429].includes(status);

/** While the service is away or has no room, tries continue as long as the lease lives. */
const isAway = (status: number): boolean => [408, 425, 429, 502, 503, 504, 507].includes(status);

/**
 * Returns the error for a refused upload. With a faulty file, no other attempt would succeed. A refused key or URL may
 * become valid again.
 */
function refusal(answer: Answer, name: string): Error {
  const { status, detail = `The service answered ${status}.`, retryAfterS } = answer;
  const said = `The upload of ${basename(name)} was refused: ${detail}`;
  if (isPassing(status)) return new Broken(said, { status, isAway: isAway(status), retryAfterS });
  return [401, 403].includes(status) ? new TransferError(said, { status }) : new Fail(said);
}

/** Retries where that may help. While the service is away, retries last as long as the lease. */
async function persist<T>(
  attempt: () => Promise<T>,
  { signal, isOurs, size = () => 0 }: { signal: AbortSignal; isOurs: boolean; size?: () => number },
): Promise<T> {
  const backoff = new Backoff(maxPauseMs);
  for (let tries = 0, furthest = 0; ;) {
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Broken)) throw error;
      if (size() > furthest) {
        furthest = size();
        tries = 0;
        backoff.reset();
      }
      if (!(isOurs && error.isAway)) tries++;
      if (tries >= maxTries) throw finalOf(error);
      await pause(backoff.next(error.retryAfterS), signal);
    }
  }
}

const finalOf = (error: Broken): TransferError =>
  new TransferError(error.message, { status: error.status, cause: error });

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

/** Returns the media type for the extension of a file's name. */
export const typeOf = (name: string): string =>
  types[extname(name).slice(1).toLowerCase()] ?? 'application/octet-stream';
