import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { addressRefused } from '../addresses/address-rule.js';
import type { Answer } from './retry-plan.js';

/** Of an answer. */
const keptBytes = 1_024;
/** An idle connection is used again for so long. */
const idleMs = 5_000;

export interface Call {
  url: URL;
  headers: http.OutgoingHttpHeaders;
  body: string;
  lookup: LookupFunction;
  timeoutMs: number;
}

/** Either a status and the beginning of the body, or why there is none. */
export interface PostResult extends Answer {
  body: string | null;
  error: string | null;
}

export const stopped = 'The node stopped.';

/** The connections of one sender. No redirect is followed, and no proxy asked. */
export class Posts {
  private readonly agent = new http.Agent({ keepAlive: true, timeout: idleMs });
  private readonly secureAgent = new https.Agent({ keepAlive: true, timeout: idleMs });
  private readonly underWay = new Set<(reason: string) => void>();
  private isStopped = false;

  /** Ends what is under way, and lets nothing begin. */
  stop(): void {
    this.isStopped = true;
    for (const end of this.underWay) end(stopped);
    this.agent.destroy();
    this.secureAgent.destroy();
  }

  post(call: Call): Promise<PostResult> {
    return new Promise((resolve) => {
      if (this.isStopped) return resolve(noAnswer(stopped));
      const { url, body, timeoutMs } = call;
      const isSecure = url.protocol === 'https:';
      let isAnswered = false;
      const request = (isSecure ? https : http).request({
        ...urlToHttpOptions(url),
        method: 'POST',
        headers: { ...call.headers, 'content-length': Buffer.byteLength(body) },
        agent: isSecure ? this.secureAgent : this.agent,
        lookup: call.lookup,
      });
      const done = (result: PostResult | Promise<PostResult>): void => {
        clearTimeout(timer);
        this.underWay.delete(end);
        resolve(result);
      };
      const end = (reason: string): void => {
        // What of an answer has come is passed on by the end of its response.
        if (!isAnswered) done(noAnswer(reason));
        request.destroy();
      };
      const timer = setTimeout(end, timeoutMs, `No answer came within ${timeoutMs / 1_000} s.`);
      this.underWay.add(end);
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (isAnswered || !this.underWay.has(end)) return;
        // The receiver had closed an idle connection, most likely before it read anything.
        const isStale = request.reusedSocket && error.code === 'ECONNRESET';
        done(isStale ? this.post(call) : noAnswer(failure(error)));
      });
      request.on('response', (response) => {
        isAnswered = true;
        const { statusCode: status = 0, headers } = response;
        const retryAfter = headers['retry-after'];
        passBeginning(response, (text) => done({ status, retryAfter, body: text, error: null }));
      });
      request.end(body);
    });
  }
}

export function noAnswer(error: string): PostResult {
  return { status: null, body: null, error };
}

/** As far as it comes. The status has come, and that decides. */
function passBeginning(response: http.IncomingMessage, pass: (text: string) => void): void {
  const chunks: Buffer[] = [];
  let length = 0;
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= keptBytes) response.destroy();
  });
  response.on('error', () => undefined);
  response.on('close', () => {
    // PostgreSQL keeps no NUL.
    pass(Buffer.concat(chunks).subarray(0, keptBytes).toString().replaceAll('\0', '\uFFFD'));
  });
}

/** The error's own message may name addresses within. */
function failure({ code = '' }: NodeJS.ErrnoException): string {
  if (code === addressRefused) return 'Its name leads to no address that a webhook may go to.';
  if (/^(ENOTFOUND|ENODATA|EAI_\w+|ETIMEOUT|ESERVFAIL)$/.test(code))
    return `Its name has no address (${code}).`;
  const known = /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? ` (${code})` : '';
  return `The connection could not be made, or broke${known}.`;
}
