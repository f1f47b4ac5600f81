import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '../errors/domain-error.js';
import { isAnswering } from '../internals/answering.js';
import { problemHeaders, toProblem } from './problem.js';
import { requestIdHeader } from './request-id.js';

const malformed = new DomainError('bad_request', 'This is not a well-formed HTTP request.');
const errors: Readonly<Record<string, DomainError>> = {
  HPE_HEADER_OVERFLOW: new DomainError('bad_request', 'The header fields are too large.', { status: 431 }),
  HPE_CHUNK_EXTENSIONS_OVERFLOW: new DomainError('body_too_large', 'The chunk extensions are too large.'),
  ERR_HTTP_REQUEST_TIMEOUT: new DomainError('bad_request', 'The request did not arrive in time.', {
    status: 408,
  }),
};

/** Answers calls that are not even HTTP with problem+json too, then closes the connection. */
export function answerConnectionErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) socket.destroy();
    else refuse(socket, errors[error.code ?? ''] ?? malformed);
  });
  server.on('connect', (_request, socket: Duplex) =>
    refuse(socket, new DomainError('method_not_allowed', 'This is not a proxy: CONNECT is not served.')),
  );
}

function refuse(socket: Duplex, error: DomainError): void {
  const body = JSON.stringify(toProblem(error, ''));
  const headers = {
    ...problemHeaders(error),
    [requestIdHeader]: randomUUID(),
    'X-Content-Type-Options': 'nosniff',
    Date: new Date().toUTCString(),
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...(error.status === 405 ? { Allow: 'GET, HEAD, POST, PUT, OPTIONS' } : {}),
  };
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...fields].join('\r\n');
  socket.on('error', () => undefined);
  socket.end(`${head}\r\n\r\n${body}`, () => socket.destroy());
}
