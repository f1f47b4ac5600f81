import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { urlToHttpOptions } from 'node:url';
import { BoundedCache } from '../tools/bounded-cache.js';
import { CallFailure } from './call-failure.js';
import { Connections } from './connections.js';
import { limitSilence } from './limit-silence.js';

/** Interval of keep-alive probes on a silent connection, which detect a vanished peer during a long call. */
const keepAliveProbeMs = 30_000;

export interface Call {
  method: string;
  url: string;
  /** Path and query in place of those of the URL. */
  path?: string | undefined;
  headers: http.OutgoingHttpHeaders;
  /** A text, bytes, or a function that opens a stream. The headers contain the length of a stream. */
  body?: string | Buffer | (() => Readable);
  /** Finds the addresses of the host. undefined: the system does. */
  lookup?: LookupFunction;
  /** Time limit for TCP and TLS. undefined: none. */
  connectTimeoutMs?: number;
  /**
   * The call ends after this long without a byte in either direction. While the body of the answer is read, only the
   * time counts in which its reader waits.
   */
  silenceMs?: number;
  /** Called when a connection is there and the call is about to be sent. */
  onConnected?: () => void;
  /** Called when the whole call has been sent. The answer may come earlier. */
  onSent?: () => void;
  signal?: AbortSignal;
}

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The answer has a length or chunks. Otherwise the connection's end is its end, which looks the same as a break. */
  hasOwnEnd: boolean;
  /** Fails with an error of Node if the connection breaks before the answer is complete. */
  body: Readable;
  /** Drops the connection, unless the answer was read to its end. */
  close(): void;
}

interface Target {
  secure: boolean;
  options: http.RequestOptions;
}

/**
 * An HTTP client with its own connections. It follows no redirects, uses no proxy and sets no time limit by itself.
 * `mayRepeat`: the effect of a call is the same if it arrives twice.
 */
export class Outgoing {
  readonly connections: Connections;
  /** Parsed URLs. Models are called at few URLs, again and again. */
  private readonly targets = new BoundedCache<Target>(1_000);

  constructor({ mayRepeat }: { mayRepeat: boolean }) {
    this.connections = new Connections(mayRepeat);
  }

  /** Resolves with the head of the answer. Rejects with a `CallFailure`, or with the reason of an aborted signal. */
  call(call: Call): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { method, lookup, signal, connectTimeoutMs, silenceMs } = call;
      signal?.throwIfAborted();
      const { secure, options } = this.targetOf(call.url);
      const body = typeof call.body === 'string' ? Buffer.from(call.body) : call.body;
      const length = Buffer.isBuffer(body) && { 'content-length': body.length };
      const headers = { ...call.headers, ...length };
      const path = call.path !== undefined && { path: call.path };
      const request = (secure ? https : http).request({
        ...options,
        ...path,
        method,
        headers,
        lookup,
        signal,
      });
      let connecting: NodeJS.Timeout | undefined;
      let isConnected = false;
      let isRepeated = false;
      let response: http.IncomingMessage | undefined;
      const send = (): void => {
        if (request.destroyed) return;
        clearTimeout(connecting);
        isConnected = true;
        call.onConnected?.();
        if (typeof body !== 'function') request.end(body);
        // A failure of either stream is an error of the request.
        else pipeline(body(), request).catch(() => undefined);
      };
      /** Each repetition uses up an idle connection. */
      const repeat = (): void => {
        if (!isRepeated) resolve(this.call(call));
        isRepeated = true;
      };
      request.on('socket', (socket) => {
        if (!request.reusedSocket) {
          socket.setKeepAlive(true, keepAliveProbeMs);
          if (connectTimeoutMs !== undefined)
            connecting = setTimeout(() => request.destroy(timedOut()), connectTimeoutMs);
          socket.once(secure ? 'secureConnect' : 'connect', send);
        } else if (!this.connections.mayReuse(socket)) {
          repeat();
          request.destroy();
        } else if (this.connections.mayRepeat) send();
        else afterNextPoll(send);
      });
      if (silenceMs !== undefined) request.setTimeout(silenceMs, () => request.destroy(new Error('silence')));
      request.on('error', (error: NodeJS.ErrnoException) => {
        // Such as bytes beyond the length that the answer stated.
        if (response !== undefined) return void response.destroy(error);
        const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        // A server that did not receive the end of a call has not processed it.
        const isHarmless = this.connections.mayRepeat || !request.writableFinished;
        if (request.reusedSocket && isClosed && isHarmless && signal?.aborted !== true) repeat();
        else reject(new CallFailure(error, isConnected));
      });
      request.on('finish', () => call.onSent?.());
      request.on('close', () => clearTimeout(connecting));
      const answered = (received: http.IncomingMessage, body: Readable): void => {
        response = received;
        const { statusCode: status = 0, headers } = received;
        resolve({ status, headers, hasOwnEnd: hasOwnEnd(headers), body, close: () => request.destroy() });
      };
      // The server sent an unrequested upgrade. Without a listener, the connection would count as broken.
      request.on('upgrade', (received, socket) => {
        socket.destroy();
        answered(received, Readable.from([]));
      });
      request.on('response', (received) => {
        this.connections.noteAnswer(received.socket, received);
        if (silenceMs !== undefined) request.setTimeout(0);
        // The reader of the body gets the error. Without this listener it would end the process.
        received.on('error', () => undefined);
        const body = silenceMs === undefined ? received : limitSilence(received, silenceMs);
        answered(
          received,
          body.on('error', () => undefined),
        );
      });
    });
  }

  private targetOf(text: string): Target {
    const known = this.targets.get(text, 0);
    if (known !== undefined) return known;
    const url = new URL(text);
    const secure = url.protocol === 'https:';
    const { agent, secureAgent } = this.connections;
    const target = { secure, options: { ...urlToHttpOptions(url), agent: secure ? secureAgent : agent } };
    this.targets.set(text, target, Infinity);
    return target;
  }
}

/**
 * The server may have closed an idle connection while this process was busy. Node notices it when it polls its sockets,
 * and then the call fails before anything of it was sent.
 */
function afterNextPoll(act: () => void): void {
  setImmediate(() => setImmediate(act));
}

function timedOut(): Error {
  return Object.assign(new Error('connect'), { code: 'ETIMEDOUT' });
}

/** If there are several codings, the last one determines where the answer ends. */
function hasOwnEnd({
  'content-length': length,
  'transfer-encoding': coding = '',
}: http.IncomingHttpHeaders): boolean {
  return coding === '' ? length !== undefined : /(^|,)[ \t]*chunked[ \t]*$/i.test(coding);
}
