import type { IncomingMessage, Server, ServerResponse } from 'node:http';

const waiting = new WeakSet<IncomingMessage>();

/**
 * `Expect: 100-continue`: the client is told to go on only when its body is really wanted. Until then the
 * connection is marked for closing, since nobody can say whether the body will still come.
 */
export function deferContinue(server: Server): void {
  server.on('checkContinue', (request, response) => {
    waiting.add(request);
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
  // Any other expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

export function continueIfExpected(
  request: IncomingMessage,
  response: ServerResponse,
  maxBytes: number,
): void {
  if (!waiting.has(request) || Number(request.headers['content-length'] ?? 0) > maxBytes) return;
  waiting.delete(request);
  response.removeHeader('Connection');
  response.writeContinue();
}
