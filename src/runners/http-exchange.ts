import http from 'node:http';
import https from 'node:https';
import { Readable } from 'node:stream';
import { urlToHttpOptions } from 'node:url';
import { RunFailure } from '../queue/runs/runner.js';
import { agent, mayReuse, noteAnswer, secureAgent } from './keep-alive.js';

/** A silent connection is probed this often, so that a peer that vanished is noticed in a long run. */
const keepAliveProbeMs = 30_000;

export interface HttpCall {
  url: string;
  body: string;
  headers: http.OutgoingHttpHeaders;
  connectTimeoutMs: number;
  /** The connection is there, and the request on its way. */
  onConnected: () => void;
  signal: AbortSignal;
}

export interface HttpAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** It has a length or chunks. Else its end is that of the connection, and nothing distinguishes it from a break. */
  hasOwnEnd: boolean;
  /** Ends when the answer is complete; throws a `RunFailure` when the connection breaks before. */
  chunks: AsyncIterable<Buffer>;
  /** Drops the connection, unless the answer was read to its end. */
  close(): void;
}

/** By URL; there are as many as models have addresses. */
const targets = new Map<string, { secure: boolean; options: http.RequestOptions }>();

/**
 * One POST. Only connecting is timed here; how long the model may think is the run's business, so there are no
 * time-outs for headers or body (`fetch` has them, at 300 s).
 */
export function exchange(call: HttpCall): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const { signal } = call;
    signal.throwIfAborted();
    const { secure, options } = targetOf(call.url);
    const body = Buffer.from(call.body);
    const headers = { ...call.headers, 'content-length': body.length };
    const request = (secure ? https : http).request({ ...options, headers, signal });
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
        // Nothing has been sent yet; each try leaves one connection less.
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
    // Unasked for; without a listener the connection would count as broken.
    request.on('upgrade', ({ headers }, socket) => {
      socket.destroy();
      resolve({ status: 101, headers, hasOwnEnd: true, chunks: Readable.from([]), close: () => undefined });
    });
    request.on('response', (response) => {
      noteAnswer(response.socket, response);
      // The reader of the chunks gets the error; without a listener it would end the process.
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        hasOwnEnd: hasOwnEnd(response.headers),
        chunks: readChunks(response, signal, () => fault),
        close: () => request.destroy(),
      });
    });
    request.end(body);
  });
}

function targetOf(text: string): { secure: boolean; options: http.RequestOptions } {
  const known = targets.get(text);
  if (known !== undefined) return known;
  const url = new URL(text);
  const secure = url.protocol === 'https:';
  const options = { ...urlToHttpOptions(url), method: 'POST', agent: secure ? secureAgent : agent };
  targets.set(text, { secure, options });
  return { secure, options };
}

/** Of several codings the last one says where the answer ends. */
function hasOwnEnd({
  'content-length': length,
  'transfer-encoding': coding = '',
}: http.IncomingHttpHeaders): boolean {
  return coding === '' ? length !== undefined : /(^|,)[ \t]*chunked[ \t]*$/i.test(coding);
}

/** `fault`: of the connection, such as bytes beyond the length that the answer has given. */
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

/** A connection that could not be made, or broke. The error's own message may name addresses. */
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
