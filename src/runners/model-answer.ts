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

/** Yields the lines of a body, across chunk borders. The last line may lack its line feed. */
export async function* readLines(chunks: Chunks, maxLineBytes: number): AsyncGenerator<Buffer> {
  const parts = new Pieces();
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (size + end - start > maxLineBytes) throw tooLarge(maxLineBytes);
      yield Buffer.concat([...parts.take(), chunk.subarray(start, end)]);
      size = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLineBytes) throw tooLarge(maxLineBytes);
  }
  yield Buffer.concat(parts.take(), size);
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
