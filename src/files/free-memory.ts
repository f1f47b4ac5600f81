/**
 * Frees at once the memory of a chunk that nobody reads any more. The garbage collector counts memory outside its heap
 * so loosely that a file of a gigabyte would keep a hundred megabytes of chunks. Node 20 cannot do this.
 */
export function freeMemory(chunk: Buffer): void {
  const { buffer } = chunk;
  // A chunk that shares its memory with others, as small ones do, is not freed.
  if (buffer instanceof ArrayBuffer && buffer.byteLength === chunk.byteLength) buffer.transfer?.(0);
}
