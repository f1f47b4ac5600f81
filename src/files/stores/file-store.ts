import type { Readable } from 'node:stream';

/** Bytes that a download has in memory: a chunk that is being sent, and one that is read ahead. */
export const downloadBytes = 128 * 1024;

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

/** Bytes that have come but are not a file yet. */
export interface Received {
  /** The path of the bytes on the disk, as far as it took them. Code that moves them updates the path. */
  path: string;
  /** Writes all of them to the disk, fsync included. May be called again after it failed. */
  settle(): Promise<Written>;
  /** Removes what exists of them, at `path`. */
  discard(): Promise<void>;
}

/** Memory for what a disk does not take now. */
export interface Memory {
  /** Returns false if there is no more memory. */
  take(bytes: number): boolean;
  release(bytes: number): void;
}

/** The place where the bytes of files are kept. `name` is the name of a try, see `bytesOf`. */
export interface FileStore {
  /** Returns what distinguishes this place from others. The first call marks the place as ours. */
  claimPlace(): Promise<string>;
  /** Returns the place as it is known. undefined: it is not there. */
  place(): Promise<string | undefined>;
  /** All or nothing: once this resolves, the bytes survive a crash. May be called again after it failed. */
  store(name: string, part: Received): Promise<Written>;
  /** undefined: there are no such bytes. */
  read(name: string, range: ByteRange): Promise<Readable | undefined>;
  /** Succeeds even if there are no such bytes. */
  remove(name: string): Promise<void>;
}

export const FILE_STORE = Symbol('FILE_STORE');

/** Two folders deep, so that no folder grows too large: `ab/cd/<id>-<upload>`. */
export function bytesOf(fileId: string, upload: number): string {
  return `${fileId.slice(0, 2)}/${fileId.slice(2, 4)}/${fileId}-${upload}`;
}
