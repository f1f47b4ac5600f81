import { tooLarge } from './bounded-body.js';

const newline = 0x0a;

/** The lines of a body, however its chunks cut them, the last with or without its line feed. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  maxLineBytes: number,
): AsyncGenerator<Buffer> {
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
