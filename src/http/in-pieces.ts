import type { ServerResponse } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isHigh } from '../tools/storable-text.js';

/**
 * Longer texts are written in pieces of this size as the client reads them, because encoding all at once takes long.
 */
export const pieceLength = 256 * 1024;

/** Yields a text as bytes, piece by piece. */
export function* piecesOf(text: string, encoding: 'latin1' | 'utf8' = 'utf8'): Generator<Buffer> {
  for (let at = 0; at < text.length;) {
    let end = Math.min(at + pieceLength, text.length);
    // The two halves of a surrogate pair are one character.
    if (end < text.length && isHigh(text.charCodeAt(end - 1))) end++;
    yield Buffer.from(text.slice(at, end), encoding);
    at = end;
  }
}

/**
 * From here on, long texts written to the response go out in pieces, and later writes follow them. The end takes no text
 * and no callback, so an error must be answered before.
 */
export function writeInPieces(response: ServerResponse): void {
  const write = response.write.bind(response) as (chunk: string | Buffer) => boolean;
  const end = response.end.bind(response) as () => void;
  const waiting: Iterator<string | Buffer>[] = [];
  let isWriting = false;
  let isEnding = false;

  const writeAll = async (): Promise<void> => {
    isWriting = true;
    while (waiting.length > 0 && !response.destroyed) {
      const next = waiting[0]!.next();
      if (next.done === true) waiting.shift();
      else if (write(next.value)) await nextTurn();
      else await drained(response);
    }
    isWriting = false;
    if (isEnding) end();
    // The writer waits for this event, because `write` returned false.
    else response.emit('drain');
  };

  response.write = (chunk: string | Buffer): boolean => {
    const isLong = typeof chunk === 'string' && chunk.length > pieceLength;
    if (!isWriting && !isLong) return write(chunk);
    waiting.push(isLong ? piecesOf(chunk) : [chunk].values());
    if (!isWriting) void writeAll();
    return false;
  };
  response.end = () => {
    if (isWriting) isEnding = true;
    else end();
    return response;
  };
}

/** Resolves when the client has read what was written, or has disconnected. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}
