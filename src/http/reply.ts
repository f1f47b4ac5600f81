import type { ServerResponse } from 'node:http';
import { Readable, pipeline } from 'node:stream';
import { chargesOf } from './charges.js';
import { pieceLength, piecesOf } from './in-pieces.js';

/** An answer in JSON, before it is decided how it is written. */
export interface Reply {
  status: number;
  /** Names and values in turn, besides the fields that every answer has. */
  fields?: readonly string[];
  /** JSON text. */
  body: string;
}

/** Writes the answer. Fields that are set already stay; `before` has more, as names and values in turn. */
export function sendReply(
  response: ServerResponse,
  { status, fields = [], body }: Reply,
  before: readonly string[] = [],
): void {
  const bytes = Buffer.byteLength(body);
  chargesOf(response.req)?.chargeAnswer(bytes);
  // All at once, because as many calls of setHeader would take a third of the answer's time.
  response.writeHead(status, [
    ...before,
    ...fields,
    'Content-Type',
    'application/json; charset=utf-8',
    'Content-Length',
    String(bytes),
  ]);
  // If there are as many bytes as characters, all are ASCII and need no encoding.
  const encoding = bytes === body.length ? 'latin1' : 'utf8';
  if (bytes <= pieceLength) response.end(body, encoding);
  // A client that has disconnected is no error.
  else pipeline(Readable.from(piecesOf(body, encoding)), response, () => undefined);
}

export function setFields(response: ServerResponse, fields: readonly string[]): void {
  for (let i = 0; i < fields.length; i += 2) response.setHeader(fields[i]!, fields[i + 1]!);
}
