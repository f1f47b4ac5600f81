/**
 * Frees the memory of a chunk that nobody reads any more, and not only when the collector comes by: it counts what lies
 * outside its heap so loosely that a file of a gigabyte keeps a hundred megabytes of chunks. Node 20 cannot.
 */
export function freeMemory(chunk: Buffer): void {
  const { buffer } = chunk;
  // Not of one that shares its memory with others, as small ones do.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength) buffer.transfer?.(0);
}
