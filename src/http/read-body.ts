import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { DomainError } from '../errors/domain-error.js';

const decoders = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/**
 * The whole body, decompressed, whatever its content type. `maxBytes` bounds what it takes on the wire and
 * what it becomes. What is left unread after an error is drained, so that the client gets to read the answer.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  if (request.destroyed) throw aborted();
  const coding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '') return collect(request, request, maxBytes);
  const decoder = decoders.get(coding)?.();
  if (decoder === undefined) {
    throw new DomainError(
      'unsupported_encoding',
      'The body must be plain or encoded with gzip, deflate or br.',
    );
  }
  request.pipe(decoder);
  return collect(request, decoder, maxBytes).finally(() => {
    request.unpipe(decoder);
    decoder.destroy();
  });
}

function collect(request: IncomingMessage, source: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) fail(tooLarge(maxBytes));
      else chunks.push(chunk);
    };
    const onEnd = (): void => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size));
    const onClose = (): void => {
      if (!request.complete) fail(aborted());
    };
    const onDecoderError = (cause: Error): void =>
      fail(new DomainError('invalid_json', 'The body does not match its Content-Encoding.', { cause }));
    const release = (): void => {
      source.off('data', onData).off('end', onEnd);
      request.off('close', onClose);
    };
    const fail = (error: DomainError): void => {
      release();
      request.unpipe();
      request.resume();
      reject(error);
    };
    source.on('data', onData).on('end', onEnd);
    request.on('close', onClose);
    if (source !== request) source.on('error', onDecoderError);
  });
}

function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'body_too_large',
    `The body may have ${maxBytes} bytes at most, also when decompressed.`,
  );
}

function aborted(): DomainError {
  return new DomainError('bad_request', 'The connection was closed before the body had arrived.');
}
