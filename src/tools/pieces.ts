/** The first chunks are kept as they are, because most bodies have only these. */
const firstChunks = 16;
/** A smaller chunk is copied, because a buffer of its own takes a few hundred bytes. */
const smallBytes = 1_024;
const blockBytes = 4_096;

/** The bytes of a body, in chunks that may be as small as its sender likes. */
export class Pieces {
  private pieces: Buffer[] = [];
  private block = Buffer.alloc(0);
  private used = 0;

  push(chunk: Buffer): void {
    if (chunk.length >= smallBytes || this.pieces.length < firstChunks) {
      this.endPiece();
      this.pieces.push(chunk);
      return;
    }
    if (this.used + chunk.length > this.block.length) {
      this.endPiece();
      this.block = Buffer.allocUnsafeSlow(blockBytes);
    }
    this.used += chunk.copy(this.block, this.used);
  }

  /** Returns all bytes, and forgets them. */
  take(): Buffer[] {
    this.endPiece();
    const { pieces } = this;
    this.pieces = [];
    return pieces;
  }

  private endPiece(): void {
    if (this.used === 0) return;
    this.pieces.push(this.block.subarray(0, this.used));
    this.block = this.block.subarray(this.used);
    this.used = 0;
  }
}
