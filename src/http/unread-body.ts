import type { IncomingMessage, ServerResponse } from 'node:http';
import { awaitsContinue } from './body-reader.js';

/** How long a client may continue to send an unwanted body: in total, and without a byte. */
const lingerMs = 30_000;
const silenceMs = 5_000;
/** The most bytes that are read, as many as a fast connection may bring in that time. */
const maxBytes = 4 * 1024 ** 3;

/**
 * Ends an answer that may come before the body of its call. Many clients read nothing until they have sent all. A
 * connection that is closed with something unread is reset, and the client loses the answer. The answer is therefore
 * written at once, and its end waits for the rest of the body, which is discarded.
 */
export function endAfterBody(response: ServerResponse, answer: Buffer): void {
  const { req: request } = response;
  if (!isSending(request) || request.method === 'HEAD') return void response.end(answer);
  response.write(answer);
  let left = maxBytes;
  const giveUp = (): void => void response.end(() => request.destroy());
  const silence = setTimeout(giveUp, silenceMs).unref();
  const whole = setTimeout(giveUp, lingerMs).unref();
  request.on('close', () => {
    clearTimeout(silence);
    clearTimeout(whole);
    response.end();
  });
  // In the next turn, when the previous reader has let go of it.
  setImmediate(() => {
    request.on('data', ({ length }: Buffer) => {
      silence.refresh();
      left -= length;
      if (left < 0) giveUp();
    });
    request.resume();
  });
}

function isSending(request: IncomingMessage): boolean {
  const { complete, destroyed, headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return hasBody && !complete && !destroyed && !awaitsContinue(request);
}
