import { Deadline, pause } from './deadline.js';
import { abortError, isMissing, isTurnedAway, mayPass, NowServingError } from './errors.js';
import { LineSplitter } from './lines.js';
import { EventParser, type ServerEvent } from './sse.js';
import type { ClientOptions } from './types.js';

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path segments after `/v1`. */
  path: readonly string[];
  query?: Readonly<Record<string, string | number | readonly string[] | undefined>>;
  body?: object;
  headers?: Record<string, string>;
  /** Seconds that the service may hold its answer. */
  hold?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called with the error of each try that fails. */
  onFailedTry?: (error: unknown) => void;
  /** The id of the request that the call is about. */
  requestId?: string;
  /** The answer may be any JSON value. Others are objects. */
  isValue?: boolean;
}

interface Upload {
  /** Called for each try. */
  open: () => Promise<Blob | ReadableStream<Uint8Array>>;
  isRepeatable: boolean;
  type: string;
  signal: AbortSignal | undefined;
}

interface Request {
  method: string;
  url: string;
  headers: Headers;
  body: string | null;
}

export interface Answer<T> {
  status: number;
  headers: Headers;
  body: T;
}

/** The service sends the first event at once. If none arrives in time, a proxy is buffering the stream. */
const firstEventMs = 5_000;
/** The service sends something on a stream every 15 s. */
export const silenceMs = 40_000;

/** Calls the service over HTTP and retries where that may help. */
export class Transport {
  readonly retries: number;
  private readonly base: string;
  private readonly headers: Record<string, string>;
  private readonly timeoutMs: number;
  private readonly fetch: typeof globalThis.fetch;

  constructor({ url, key, fetch = globalThis.fetch, retries = 5, timeoutS = 60 }: ClientOptions) {
    if (!/^https?:\/\/[^/]/.test(url))
      throw new TypeError(`The address of the service must begin with http:// or https://, unlike ${url}.`);
    this.base = url.replace(/\/+$/, '');
    this.headers = authorizationOf(key);
    this.retries = retries;
    this.timeoutMs = timeoutS * 1_000;
    this.fetch = (target, init) => fetch(target, init); // a browser's own fetch fails as a method of another object
  }

  /** `limit`: how many tries may fail. */
  async send<T>(call: Call, limit = this.retries): Promise<Answer<T>> {
    const request = this.request(call);
    for (let failed = 0; ;) {
      try {
        return await this.try<T>(call, request, failed);
      } catch (error) {
        call.onFailedTry?.(error);
        // An earlier try, whose answer was lost, has deleted it.
        if (call.method === 'DELETE' && failed > 0 && isMissing(error))
          return { status: 204, headers: new Headers(), body: undefined as T };
        failed = await this.again(error, failed, call, limit);
      }
    }
  }

  /**
   * Pauses before the next try and returns how many tries have failed. Throws the error if there is no next try.
   * `limit`: how many tries may fail.
   */
  async again(error: unknown, failed: number, call: Call, limit = this.retries): Promise<number> {
    if (!mayPass(error)) throw error;
    const isFailure = !isTurnedAway(error) || limit === 0;
    if (isFailure && failed >= limit) throw error;
    await pauseBetween(failed, call, error.retryAfter);
    return isFailure ? failed + 1 : failed;
  }

  /** Sends bytes to an upload URL, which needs no key. There is no time limit except the signal. */
  async put(url: string, { open, isRepeatable, type, signal }: Upload): Promise<void> {
    const call: Call = { path: [], signal };
    for (let failed = 0; ;) {
      const deadline = new Deadline(signal);
      try {
        if (signal?.aborted === true) throw abortError(signal);
        const body = await open();
        // `duplex` is required for streams, but missing in the types of some platforms.
        const init = { method: 'PUT', headers: { 'content-type': type }, body, duplex: 'half' as const };
        const response = await this.fetch(url, { ...init, signal: deadline.signal });
        const text = await response.text();
        // The previous try succeeded, but its answer was lost.
        if (response.ok || (response.status === 409 && failed > 0)) return;
        throw problemOf(response, text, call);
      } catch (thrown) {
        const error = explained(thrown, deadline, call);
        if (!isRepeatable) throw error;
        failed = await this.again(error, failed, call);
      } finally {
        deadline.end();
      }
    }
  }

  /**
   * Yields the events of one connection, and calls `onBytes` whenever something arrives. Retries are up to the caller,
   * which knows the last event.
   */
  async *events(
    call: Call & { firstMs?: number },
    onBytes: () => void,
  ): AsyncGenerator<ServerEvent, void, void> {
    const parser = new EventParser();
    for await (const text of this.pieces(call, 'text/event-stream')) {
      onBytes();
      yield* parser.push(text);
    }
  }

  /** Yields the lines of one answer, which has the type `application/x-ndjson`. Throws if it may be truncated. */
  async *lines(call: Call): AsyncGenerator<string, void, void> {
    const lines = new LineSplitter(/\n/);
    for await (const text of this.pieces({ firstMs: silenceMs, ...call }, 'application/x-ndjson', true)) {
      yield* lines.push(text);
    }
    if (lines.rest !== '') throw truncated('The last line is truncated.');
  }

  /** Yields the text of one answer as it arrives. `isWhole`: throws if its end may be missing. */
  private async *pieces(
    call: Call & { firstMs?: number },
    type: string,
    isWhole = false,
  ): AsyncGenerator<string, void, void> {
    const { url, headers } = this.request(call);
    headers.set('accept', type);
    const deadline = new Deadline(call.signal);
    try {
      if (call.signal?.aborted === true) throw abortError(call.signal, call.requestId);
      deadline.start(call.firstMs ?? firstEventMs);
      const response = await this.fetch(url, { headers, signal: deadline.signal });
      if (!response.ok) throw problemOf(response, await response.text(), call);
      if (response.status === 204) return;
      if (!response.body || response.headers.get('content-type')?.startsWith(type) !== true)
        throw new NowServingError('invalid_response', `The answer does not have the type ${type}.`);
      if (isWhole && hidesItsEnd(response)) throw truncated('The answer does not show where it ends.');
      const reader = response.body.getReader();
      const decoder = new TextDecoder();
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
        const text = decoder.decode(chunk.value, { stream: true });
        deadline.pause(); // while the caller handles the text
        yield text;
        deadline.start(silenceMs);
      }
    } catch (error) {
      throw explained(error, deadline, call);
    } finally {
      deadline.end();
    }
  }

  /** Throws if an argument of the call is invalid. */
  private request({ method = 'GET', path, query = {}, body, headers }: Call): Request {
    const url = new URL(`${this.base}/v1${pathOf(path)}`);
    for (const [name, values] of Object.entries(query)) {
      const list = typeof values === 'object' ? values : [values];
      for (const value of list) if (value !== undefined) url.searchParams.append(name, String(value));
    }
    const fields = new Headers({ ...this.headers, ...headers });
    if (body !== undefined) fields.set('content-type', 'application/json');
    return {
      method,
      url: url.href,
      headers: fields,
      body: body === undefined ? null : JSON.stringify(body),
    };
  }

  private async try<T>(call: Call, request: Request, failed: number): Promise<Answer<T>> {
    const { url, ...init } = request;
    if (call.signal?.aborted === true) throw abortError(call.signal, call.requestId);
    // Halved with each failure: a proxy may not allow a call that long.
    const hold = Math.floor((call.hold ?? 0) / 2 ** failed);
    if (hold > 0) init.headers.set('prefer', `wait=${hold}`);
    else init.headers.delete('prefer');
    const deadline = new Deadline(call.signal);
    try {
      deadline.start(this.timeoutMs + hold * 1_000);
      const response = await this.fetch(url, { ...init, signal: deadline.signal });
      const text = await response.text();
      if (!response.ok) throw problemOf(response, text, call);
      const body = (response.status === 204 ? undefined : JSON.parse(text)) as T;
      if (mayBeCut(response, body)) throw new SyntaxError('The number may be truncated.');
      if (call.isValue !== true && response.status !== 204 && !isObject(body))
        throw new SyntaxError('The service answers with objects.');
      return { status: response.status, headers: response.headers, body };
    } catch (error) {
      throw explained(error, deadline, call);
    } finally {
      deadline.end();
    }
  }
}

/** Returns the header for a key. White space around the key, such as the line end of a file, is ignored. */
export function authorizationOf(key: string | undefined): Record<string, string> {
  if (key === undefined) return {};
  const trimmed = key.trim();
  // The error of `Headers` would show the key.
  if (!/^[\x20-\x7e]*$/.test(trimmed)) throw new TypeError('The key has characters that no key has.');
  return { authorization: `Key ${trimmed}` };
}

/**
 * Waits 200 ms, doubling to 8 s, or longer if the service asked for it. Up to a quarter is added so that callers spread
 * out.
 */
export async function pauseBetween(
  failed: number,
  { signal, requestId }: Call,
  retryAfter = 0,
): Promise<void> {
  const seconds = Math.max(retryAfter, Math.min(0.2 * 2 ** failed, 8));
  await pause(seconds * 1_000 * (1 + Math.random() / 4), signal);
  if (signal?.aborted === true) throw abortError(signal, requestId);
}

/** Returns a path in which each part is exactly one segment, whatever characters it has. */
function pathOf(parts: readonly string[]): string {
  const lost = parts.find((part) => ['', '.', '..'].includes(part));
  if (lost !== undefined) throw new TypeError(`"${lost}" is not an id, nor a part of one.`);
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/**
 * Returns whether fetch fails on a truncated body. Without a length or chunks, the end of the connection is the end of
 * the body. Node also accepts the end of the connection as the end of chunks if the connection was to be closed.
 */
export function isFramed(headers: Headers): boolean {
  if (headers.has('content-length')) return true;
  return headers.has('transfer-encoding') && headers.get('connection')?.toLowerCase() !== 'close';
}

/** Returns whether a body may be truncated without notice. Truncated JSON is invalid, unless it is a number. */
const mayBeCut = (response: Response, body: unknown): boolean =>
  typeof body === 'number' && hidesItsEnd(response);

const isObject = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && !Array.isArray(body);

/** Returns the JSON of an event. It is never truncated, so what is no JSON is not from the service. */
export function jsonOfEvent(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (cause) {
    throw new NowServingError('invalid_response', 'An event of the stream is not JSON.', { cause });
  }
}

/** Browsers do not show how a body is framed, and a `Response` made by a program has no URL. */
function hidesItsEnd({ url, headers }: Response): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return url !== '' && process?.versions?.node !== undefined && !isFramed(headers);
}

const truncated = (said: string): NowServingError => new NowServingError('invalid_response', said);

/** Returns whether a file changed since it was opened, or was deleted. */
export const isUnreadable = (cause: unknown): boolean =>
  (cause as Partial<Error> | undefined)?.name === 'NotReadableError';

function explained(error: unknown, { isOver }: Deadline, { signal, requestId }: Call): unknown {
  if (error instanceof NowServingError) return error;
  const fields = { cause: error, requestId };
  if (signal?.aborted === true) return abortError(signal, requestId);
  if (isUnreadable((error as Partial<Error> | undefined)?.cause)) {
    const said =
      'The file changed while it was uploaded, or cannot be read. Upload files only after they are written and closed.';
    return new NowServingError('unreadable_file', said, fields);
  }
  if (isOver) return new NowServingError('timeout', 'The service did not answer in time.', fields);
  if (error instanceof SyntaxError) {
    return new NowServingError('invalid_response', 'The answer is not JSON, or only a part of it.', fields);
  }
  return new NowServingError('connection_failed', 'The connection failed.', fields);
}

function problemOf(
  { status, statusText, headers }: Response,
  text: string,
  { requestId }: Call,
): NowServingError {
  const { code, detail, errors, details } = parsed(text);
  const said = typeof detail === 'string' ? detail : statusText || text.slice(0, 200);
  return new NowServingError(typeof code === 'string' ? code : `http_${status}`, said, {
    status,
    errors,
    details,
    requestId,
    callId: headers.get('x-request-id') ?? undefined,
    retryAfter: secondsOf(headers.get('retry-after')),
  });
}

type Problem = { code?: unknown; detail?: unknown } & Partial<Pick<NowServingError, 'errors' | 'details'>>;

/** Empty if something other than the service answered. */
function parsed(text: string): Problem {
  try {
    return (JSON.parse(text) as Problem | null) ?? {};
  } catch {
    return {};
  }
}

/** Returns the seconds of a `Retry-After` header: a number of seconds, or a date. */
export function secondsOf(field: string | null): number | undefined {
  if (field === null) return undefined;
  const seconds = /^\d+$/.test(field) ? Number(field) : (Date.parse(field) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
