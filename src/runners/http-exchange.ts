import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { RunFailure } from '../queue/runs/runner.js';
import { agent, mayReuse, noteAnswer, secureAgent } from './keep-alive.js';

/** Interval of keep-alive probes on a silent connection, which detect a vanished peer during a long run. */
const keepAliveProbeMs = 30_000;

export interface HttpCall {
  url: string;
  /** Path and query in place of those of the URL. */
  path?: string | undefined;
  method?: string;
  /** A text, or what is read while it is sent, of `length` bytes. */
  body: string | { chunks: AsyncIterable<Buffer>; length: number };
  headers: http.OutgoingHttpHeaders;
  connectTimeoutMs: number;
  /** Called when the connection is established and the request is being sent. */
  onConnected: () => void;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The answer has a length or chunks. Otherwise the connection's end is its end, which looks the same as a break. */
  hasOwnEnd: boolean;
  /** Ends when the answer is complete. Throws a `RunFailure` if the connection breaks earlier. */
  chunks: AsyncIterable<Buffer>;
  /** Drops the connection, unless the answer was read to its end. */
  close(): void;
}

/** Parsed targets by URL. There are as many as models have addresses. */
const targets = new Map<string, { secure: boolean; options: http.RequestOptions }>();

/**
 * Sends one request. Only the connecting has a time limit here, because the run decides how long the model may take.
 * `fetch` would limit headers and body to 300 s.
 */
export function exchange(call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = call;
    signal.throwIfAborted();
    const { secure, options } = targetOf(call.url);
    const { body, method = 'POST' } = call;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
    const headers = { ...call.headers, 'content-length': length };
    const request = (secure ? https : http).request({
      ...options,
      ...(call.path !== undefined && { path: call.path }),
      method,
      headers,
      signal,
    });
    let connecting: NodeJS.Timeout | undefined;
    let isConnected = false;
    let fault: Error | undefined;
    const connected = (): void => {
      clearTimeout(connecting);
      isConnected = true;
      call.onConnected();
    };
    request.on('socket', (socket) => {
      if (request.reusedSocket) {
        if (mayReuse(socket)) return connected();
        // Nothing was sent yet. Each try removes one idle connection.
        resolve(exchange(call));
        request.destroy();
        return;
      }
      socket.setKeepAlive(true, keepAliveProbeMs);
      connecting = setTimeout(() => {
        request.destroy(Object.assign(new Error('connect'), { code: 'ETIMEDOUT' }));
      }, call.connectTimeoutMs);
      socket.once(secure ? 'secureConnect' : 'connect', connected);
    });
    request.on('error', (error) => {
      fault = error;
      reject(signal.aborted ? stopped(signal) : connectionFailure(error, isConnected));
    });
    request.on('close', () => clearTimeout(connecting));
    // The model sent an unrequested upgrade. Without a listener, the connection would count as broken.
    request.on('upgrade', ({ headers }, socket) => {
      socket.destroy();
      resolve({ status: 101, headers, hasOwnEnd: true, chunks: Readable.from([]), close: () => undefined });
    });
    request.on('response', (response) => {
      noteAnswer(response.socket, response);
      // The reader of the chunks gets the error. Without this listener it would end the process.
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        hasOwnEnd: hasOwnEnd(response.headers),
        chunks: readChunks(response, signal, () => fault),
        close: () => request.destroy(),
      });
    });
    if (typeof body === 'string') request.end(body);
    else
      Readable.from(body.chunks)
        .on('error', (error) => request.destroy(error))
        .pipe(request);
  });
}

function targetOf(text: string): { secure: boolean; options: http.RequestOptions } {
  const known = targets.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  const options = { ...urlToHttpOptions(url), agent: secure ? secureAgent : agent };
  targets.set(text, { secure, options });
  return { secure, options };
}

/** If there are several codings, the last one determines where the answer ends. */
function hasOwnEnd({
  'content-length': length,
  'transfer-encoding': coding = '',
}: http.IncomingHttpHeaders): boolean {
  return coding === '' ? length !== undefined : /(^|,)[ \t]*chunked[ \t]*$/i.test(coding);
}

/** `fault`: an error of the connection, such as bytes beyond the length that the answer stated. */
async function* readChunks(
  response: AsyncIterable<Buffer>,
  signal: AbortSignal,
  fault: () => Error | undefined,
): AsyncGenerator<Buffer> {
  try {
    yield* response;
    const seen = fault();
    if (seen !== undefined) throw seen;
  } catch (error) {
    throw signal.aborted ? stopped(signal) : connectionFailure(error as Error, true);
  }
}

function stopped(signal: AbortSignal): Error {
  return new Error(`the run was stopped: ${String(signal.reason)}`);
}

/**
 * Returns the failure for a connection that could not be made, or broke. The error's own message may contain addresses.
 */
function connectionFailure(error: NodeJS.ErrnoException, wasConnected: boolean): RunFailure {
  const code = /^[A-Z][A-Z0-9_]{2,60}$/.test(error.code ?? '') ? ` (${error.code})` : '';
  return new RunFailure(
    `The connection to the model ${wasConnected ? 'broke' : 'could not be made'}${code}.`,
    {
      code: 'model_unavailable',
      retryable: true,
      outage: wasConnected ? 'costly' : 'free',
    },
  );
}
