import { Pieces } from '../tools/pieces.js';

export type Chunks = AsyncIterable<Buffer>;

/** Collects chunks until there are more than `maxBytes`. Returns the bytes collected. */
export async function collect(chunks: Chunks, maxBytes: number, into: Pieces): Promise<number> {
  let size = 0;
  for await (const chunk of chunks) {
    into.push(chunk);
    size += chunk.length;
    if (size > maxBytes) break;
  }
  return size;
}

/** Reads the first `maxBytes` of a body that may be incomplete or invalid, because its status already decided. */
export async function readBeginning(chunks: Chunks, maxBytes: number): Promise<Buffer> {
  const parts = new Pieces();
  await collect(chunks, maxBytes - 1, parts).catch(() => undefined);
  return Buffer.concat(parts.take()).subarray(0, maxBytes);
}
