import { type Chunks, collect } from '../outgoing/answer-body.js';
import { RunFailure } from '../queue/runs/runner.js';
import { Pieces } from '../tools/pieces.js';

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

/** Yields the lines of a body, across chunk borders. The last one, without a line feed, may be empty. */
export async function* readLines(chunks: Chunks, maxLineBytes: number): AsyncGenerator<Line> {
  const parts = new Pieces();
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (size + end - start > maxLineBytes) throw tooLarge(maxLineBytes);
      yield { bytes: Buffer.concat([...parts.take(), chunk.subarray(start, end)]), mayBeCut: false };
      size = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLineBytes) throw tooLarge(maxLineBytes);
  }
  yield { bytes: Buffer.concat(parts.take(), size), mayBeCut: true };
}

export const notUtf8 = "The model's answer is not UTF-8.";

export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RunFailure(notUtf8);
  }
}

export function tooLarge(maxBytes: number): RunFailure {
  return new RunFailure(`The model's answer is larger than ${maxBytes} bytes.`);
}
