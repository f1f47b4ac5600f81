import type { IncomingMessage, ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Logger } from '@nestjs/common';
import { DomainError } from '../errors/domain-error.js';
import { chargesOf } from '../http/charges.js';
import { selectionOf } from './byte-range.js';
import { dispositionOf } from './file-name.js';
import type { Files } from './files.js';
import { freeMemory } from './free-memory.js';
import type { StoredFile } from './queries/find-files.js';
import { downloadBytes } from './stores/file-store.js';

const log = new Logger('Files');

/** Whatever a file holds, it runs nothing, loads nothing from elsewhere, and is shown in no frame. */
const policy =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** Answers a GET or HEAD. The fields that every answer has are set elsewhere. */
export async function sendFile(
  files: Files,
  file: StoredFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { size, contentType, name } = file;
  const { method = 'GET' } = request;
  const etag = `"${file.sha256.toString('hex')}"`;
  const selection = selectionOf(request.headers, { method, etag, size });
  if (selection.status === 412)
    throw new DomainError(
      'changed_meanwhile',
      `The ETag of the file is ${etag}, which If-Match does not name.`,
    );
  if (selection.status === 416) {
    response.setHeader('Content-Range', `bytes */${size}`);
    throw new DomainError('range_not_satisfiable', `The file has ${size} bytes.`);
  }
  const range = selection.status === 206 ? selection.range : { start: 0, end: size - 1 };
  const length = range.end - range.start + 1;
  const isRead = method === 'GET' && selection.status !== 304 && length > 0;
  if (isRead) chargesOf(request)?.reserveAnswer(Math.min(length, downloadBytes));
  // Read before the head is sent, so that a failure can still be answered.
  const bytes = isRead ? await files.read(file, range) : undefined;
  response.statusCode = selection.status;
  response.setHeader('ETag', etag);
  // Clients may cache the file, but must ask each time, because it may have been erased.
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Accept-Ranges', 'bytes');
  response.setHeader('Content-Security-Policy', policy);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // A page that knows the URL may show the file, even a page of another origin.
  response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
  if (selection.status === 206)
    response.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
  if (selection.status !== 304) {
    response.setHeader('Content-Type', contentType);
    response.setHeader('Content-Disposition', dispositionOf(contentType, name));
    response.setHeader('Content-Length', length);
  }
  if (bytes === undefined) response.end();
  // A client that disconnects is no error. If a store gives less than the file has, the answer breaks off.
  else await pipeline(bytes, fileBody(response, length)).catch(() => undefined);
}

function wrongLength(): Error {
  const text = 'the length of a stored file has changed; its download was aborted';
  log.error(text);
  return new Error(text);
}

/**
 * Frees the chunks that it has sent. If the number of bytes is not `length`, it closes the connection. Otherwise the
 * client would take the next answer for the rest of this one.
 */
export function fileBody(response: ServerResponse, length: number): Writable {
  let left = length;
  const body = new Writable({
    write(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) return done(wrongLength());
      response.write(chunk, (error) => {
        freeMemory(chunk);
        done(error);
      });
    },
    final(done) {
      if (left > 0) done(wrongLength());
      else response.end(done);
    },
    destroy(error, done) {
      if (!response.writableFinished) response.destroy();
      done(error);
    },
  });
  response.once('close', () => body.destroy()).once('error', (error) => body.destroy(error));
  return body;
}
