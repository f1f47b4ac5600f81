import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import { addressRefused } from '../addresses/address-rule.js';
import { storable } from '../tools/storable-text.js';
import type { Answer } from './retry-plan.js';

/** Bytes of an answer that are kept. */
const keptBytes = 1_024;
/** An idle connection is kept for this long, to be used again. */
const idleMs = 5_000;

export interface Call {
  url: URL;
  headers: http.OutgoingHttpHeaders;
  body: string;
  lookup: LookupFunction;
  timeoutMs: number;
}

/** Either a status and the beginning of the body, or the reason why there is none. */
export interface PostResult extends Answer {
  body: string | null;
  error: string | null;
}

export const stopped = 'The node stopped.';

/** The connections of one sender. It follows no redirects and uses no proxy. */
export class Posts {
  private readonly agent = new http.Agent({ keepAlive: true, timeout: idleMs });
  private readonly secureAgent = new https.Agent({ keepAlive: true, timeout: idleMs });
  private readonly underWay = new Set<(reason: string) => void>();
  private isStopped = false;

  /** Ends the calls under way, and lets none begin. */
  stop(): void {
    this.isStopped = true;
    for (const end of this.underWay) end(stopped);
    this.agent.destroy();
    this.secureAgent.destroy();
  }

  post({ url, headers, body, lookup, timeoutMs }: Call): Promise<PostResult> {
    if (this.isStopped) return Promise.resolve(noAnswer(stopped));
    const isSecure = url.protocol === 'https:';
    const options = {
      ...urlToHttpOptions(url),
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: isSecure ? this.secureAgent : this.agent,
      lookup,
    };
    return new Promise((resolve) => {
      let request: http.ClientRequest;
      let isAnswered = false;
      const done = (result: PostResult): void => {
        clearTimeout(timer);
        this.underWay.delete(end);
        resolve(result);
      };
      const end = (reason: string): void => {
        // The part of an answer that has come is passed on when its response closes.
        if (!isAnswered) done(noAnswer(reason));
        request.destroy();
      };
      const begin = (): void => {
        request = (isSecure ? https : http).request(options);
        request.on('error', (error: NodeJS.ErrnoException) => {
          if (isAnswered || !this.underWay.has(end)) return;
          // The receiver had closed an idle connection, most likely before it read anything.
          if (request.reusedSocket && error.code === 'ECONNRESET') begin();
          else done(noAnswer(failure(error)));
        });
        request.on('response', (response) => {
          isAnswered = true;
          const { statusCode: status = 0, headers: fields } = response;
          const retryAfter = fields['retry-after'];
          passBeginning(response, (text) => done({ status, retryAfter, body: text, error: null }));
        });
        request.end(body);
      };
      begin();
      const timer = setTimeout(end, timeoutMs, `No answer came within ${timeoutMs / 1_000} s.`);
      this.underWay.add(end);
    });
  }
}

export function noAnswer(error: string): PostResult {
  return { status: null, body: null, error };
}

/** Passes on the beginning of the body, as far as it comes. The status has come, and it decides. */
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
    pass(storable(Buffer.concat(chunks).subarray(0, keptBytes).toString()));
  });
}

/** Hides the error's own message, which may name internal addresses. */
function failure({ code = '' }: NodeJS.ErrnoException): string {
  if (code === addressRefused)
    return 'Its name has no address that webhooks may be sent to, unless the setting WEBHOOK_ALLOW names it.';
  if (/^(ENOTFOUND|ENODATA|EAI_\w+|ETIMEOUT|ESERVFAIL)$/.test(code))
    return `Its name has no address (${code}).`;
  const known = /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? ` (${code})` : '';
  return `The connection could not be made, or broke${known}.`;
}
