import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '../../errors/domain-error.js';
import { chargesOf } from '../../http/charges.js';

export interface PayloadSlice {
  bytes: Buffer;
  /** Bytes of the whole payload. */
  total: number;
}

/**
 * Returns the bytes [from, to) of a `Range: bytes=0-65535`. Returns the whole if there is no such field or another one,
 * and if its last byte is before its first.
 */
export function wantedSlice({ headers }: IncomingMessage): { from: number; to: number } {
  const [, from, to] = /^bytes=(\d{1,10})-(\d{0,10})$/.exec(headers.range ?? '') ?? [];
  const slice = { from: Number(from), to: to === '' ? Infinity : Number(to) + 1 };
  return slice.from < slice.to ? slice : { from: 0, to: Infinity };
}

/** Sends the payload as the model or the caller wrote it. A browser never shows it as a page. */
export function sendPayload(request: IncomingMessage, response: ServerResponse, payload: PayloadSlice): void {
  const { from } = wantedSlice(request);
  const { bytes, total } = payload;
  const isPart = request.headers.range !== undefined && bytes.length < total;
  if (isPart && from >= total) {
    response.setHeader('Content-Range', `bytes */${total}`);
    throw new DomainError('bad_request', `The payload has only ${total} bytes.`, { status: 416 });
  }
  chargesOf(request)?.chargeAnswer(bytes.length);
  response.writeHead(isPart ? 206 : 200, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': bytes.length,
    'Accept-Ranges': 'bytes',
    'Content-Disposition': 'attachment; filename="payload.json"',
    'Cache-Control': 'no-store',
    ...(isPart && { 'Content-Range': `bytes ${from}-${from + bytes.length - 1}/${total}` }),
  });
  response.end(bytes);
}

const dataUrl = /"data:(image\/(?:png|jpeg|gif|webp));base64,([A-Za-z0-9+/=]+)"/;

/** A file of a run, as an output has it. */
const fileUrl = /\/v1\/files\/([0-9a-f-]{36}\/[^"/\\?#]+)", ?"content_type": ?"image\/(?:png|jpeg|gif|webp)"/;

/** Sends the first picture in an output, or redirects to it. */
export function sendPicture(response: ServerResponse, { bytes }: PayloadSlice): void {
  const output = bytes.toString('latin1');
  const [, type, data] = dataUrl.exec(output) ?? [];
  const [, file] = type === undefined ? (fileUrl.exec(output) ?? []) : [];
  if (file !== undefined) {
    // Relative, because a proxy may serve us under a path of its own.
    response.writeHead(307, { Location: `../../../files/${file}`, 'Cache-Control': 'no-store' }).end();
    return;
  }
  if (type === undefined)
    throw new DomainError('gone', 'The output contains no picture, or it is no longer stored.');
  const picture = Buffer.from(data!, 'base64');
  chargesOf(response.req)?.chargeAnswer(picture.length);
  response.writeHead(200, {
    'Content-Type': type,
    'Content-Length': picture.length,
    'Content-Security-Policy': `default-src 'none'; sandbox`,
    'Cache-Control': 'private, max-age=3600',
  });
  response.end(picture);
}
