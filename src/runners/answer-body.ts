import { RunFailure } from '../queue/runs/runner.js';

export type Chunks = AsyncIterable<Buffer>;

const newline = 0x0a;

/** The whole body. Throws when it is longer than `maxBytes`. */
export async function readBody(chunks: Chunks, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  if ((await collect(chunks, maxBytes, parts)) > maxBytes) throw tooLarge(maxBytes);
  return Buffer.concat(parts);
}

/** The first `maxBytes` of a body that need not be whole nor valid, for what a model says of its failure. */
export async function readBeginning(chunks: Chunks, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  // The status has said already that the run failed; the rest of the words is not worth another error.
  await collect(chunks, maxBytes - 1, parts).catch(() => undefined);
  return Buffer.concat(parts).subarray(0, maxBytes);
}

/** Stops once there are more than `maxBytes`. Returns how many there are. */
async function collect(chunks: Chunks, maxBytes: number, into: Buffer[]): Promise<number> {
  let size = 0;
  for await (const chunk of chunks) {
    into.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return size;
}

/** The lines of a body, however its chunks cut them, the last with or without its line feed. */
export async function* readLines(chunks: Chunks, maxLineBytes: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      if (size + end - start > maxLineBytes) throw tooLarge(maxLineBytes);
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      [parts, size, start] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(start));
    size += chunk.length - start;
    if (size > maxLineBytes) throw tooLarge(maxLineBytes);
  }
  yield Buffer.concat(parts, size);
}

export const notUtf8 = "The model's answer is not UTF-8.";

export function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RunFailure(notUtf8);
  }
}

function tooLarge(maxBytes: number): RunFailure {
  return new RunFailure(`The model's answer is larger than ${maxBytes} bytes.`);
}
