import { isUtf8 } from 'node:buffer';
import { hasMark } from '../json/jobs.js';
import { type Chunks, collect } from '../outgoing/answer-body.js';
import { RunFailure } from '../queue/runs/runner.js';
import { Pieces } from '../tools/pieces.js';
import { Slices } from '../tools/slices.js';

const newline = 0x0a;

/** Reads the whole body. Throws if it is longer than `maxBytes`. */
export async function readBody(chunks: Chunks, maxBytes: number): Promise<Buffer> {
  const parts = new Pieces();
  if ((await collect(chunks, maxBytes, parts)) > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(parts.take());
}

/** A line of a body, without its line feed. */
export interface Line {
  bytes: Buffer;
  /** The body has ended without a line feed after the line, so its rest may be missing. */
  mayBeCut: boolean;
}

/**
 * Yields the lines of a body, across chunk borders. The last one, without a line feed, may be empty. Between the lines
 * of a long chunk, other calls get a turn.
 */
export async function* readLines(chunks: Chunks, maxLineBytes: number): AsyncGenerator<Line> {
  const parts = new Pieces();
  let size = 0;
  for await (const chunk of chunks) {
    const slices = new Slices();
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (size + end - start > maxLineBytes) throw tooLarge(maxLineBytes);
      yield { bytes: Buffer.concat([...parts.take(), chunk.subarray(start, end)]), mayBeCut: false };
      size = 0;
      start = end + 1;
      if (slices.isOver) await slices.next();
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLineBytes) throw tooLarge(maxLineBytes);
  }
  yield { bytes: Buffer.concat(parts.take(), size), mayBeCut: true };
}

export const notUtf8 = "The model's answer is not UTF-8.";

/** Returns a text without its byte order mark. */
export function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new RunFailure(notUtf8);
  return bytes.toString('utf8', hasMark(bytes) ? 3 : 0);
}

export function tooLarge(maxBytes: number): RunFailure {
  return new RunFailure(`The model's answer is larger than ${maxBytes} bytes.`);
}
