import type { Readable } from 'node:stream';

/** The bytes of a try, once they are safe. */
export interface Written {
  size: number;
  sha256: Buffer;
}

/** First and last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Bytes that have come and are not a file yet. */
export interface Received {
  /** Where they are on the disk, as far as it took them; whoever moves them says so. */
  path: string;
  /** Brings all of them to the disk, fsync included. May be called again after it failed. */
  settle(): Promise<Written>;
  /** Removes what there is of them, at `path`. */
  discard(): Promise<void>;
}

/** Memory for what a disk does not take now. */
export interface Hold {
  /** False: there is no more of it. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** Where the bytes of files are kept. `name`: that of a try, see `bytesOf`. */
export interface FileStore {
  /** Distinguishes this place from others; makes it known as ours the first time. */
  claimPlace(): Promise<string>;
  /** As it is known; undefined: it is not there. */
  place(): Promise<string | undefined>;
  /** Takes the bytes of a file; with `hold` the memory takes what the disk does not, and `store` tries that again. */
  receive(source: AsyncIterable<Buffer>, hold?: Hold): Promise<Received>;
  /** All or nothing: once this resolves they are there after a crash too. May be called again after it failed. */
  store(name: string, part: Received): Promise<Written>;
  /** undefined: there are none. */
  read(name: string, range: ByteRange): Promise<Readable | undefined>;
  /** Also where there are none. */
  remove(name: string): Promise<void>;
  /** What writes that never ended have left here. */
  removeLeftovers(): Promise<void>;
}

export const FILE_STORE = Symbol('FILE_STORE');

/** Two folders deep, so that none grows too long: `ab/cd/<id>-<upload>`. */
export function bytesOf(fileId: string, upload: number): string {
  return `${fileId.slice(0, 2)}/${fileId.slice(2, 4)}/${fileId}-${upload}`;
}
