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
  /** Its reason is what the try failed with. */
  signal: AbortSignal;
}

/** Either a status and the beginning of the body, or why there is none. */
export interface PostResult extends Answer {
  body: string | null;
  error: string | null;
}

/** The connections of one sender. No redirect is followed, and no proxy asked. */
export class Posts {
  private readonly agent = new http.Agent({ keepAlive: true, timeout: idleMs });
  private readonly secureAgent = new https.Agent({ keepAlive: true, timeout: idleMs });

  close(): void {
    this.agent.destroy();
    this.secureAgent.destroy();
  }

  post(call: Call): Promise<PostResult> {
    return new Promise((resolve) => {
      const { url, signal, body } = call;
      const fail = (error: string): void => resolve({ status: null, body: null, error });
      if (signal.aborted) return fail(String(signal.reason));
      const isSecure = url.protocol === 'https:';
      const request = (isSecure ? https : http).request({
        ...urlToHttpOptions(url),
        method: 'POST',
        headers: { ...call.headers, 'content-length': Buffer.byteLength(body) },
        agent: isSecure ? this.secureAgent : this.agent,
        lookup: call.lookup,
        signal,
      });
      let isAnswered = false;
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (isAnswered) return;
        if (signal.aborted) return fail(String(signal.reason));
        // The receiver had closed an idle connection, most likely before it read anything.
        if (request.reusedSocket && error.code === 'ECONNRESET') return resolve(this.post(call));
        fail(failure(error));
      });
      request.on('response', (response) => {
        isAnswered = true;
        const { statusCode: status = 0, headers } = response;
        const retryAfter = headers['retry-after'];
        void beginningOf(response).then((text) => resolve({ status, retryAfter, body: text, error: null }));
      });
      request.end(body);
    });
  }
}

/** As far as it came. */
async function beginningOf(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= keptBytes) break;
    }
  } catch {
    // The status has come, and that decides.
  }
  // PostgreSQL keeps no NUL.
  return Buffer.concat(chunks).subarray(0, keptBytes).toString().replaceAll('\0', '\uFFFD');
}

/** The error's own message may name addresses within. */
function failure({ code = '' }: NodeJS.ErrnoException): string {
  if (code === addressRefused) return 'Its name leads to no address that a webhook may go to.';
  if (/^(ENOTFOUND|ENODATA|EAI_\w+|ETIMEOUT|ESERVFAIL)$/.test(code))
    return `Its name has no address (${code}).`;
  const known = /^[A-Z][A-Z0-9_]{2,60}$/.test(code) ? ` (${code})` : '';
  return `The connection could not be made, or broke${known}.`;
}
