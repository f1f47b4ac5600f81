import type { Readable } from 'node:stream';
import type { Hold, Part, Written } from './spool.js';

export type { Hold, Written };

/** First and last byte. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Where the bytes of files are kept. `name`: that of a try, see `bytesOf`. */
export interface FileStore {
  /** Distinguishes this place from others; makes it known as ours the first time. */
  claimPlace(): Promise<string>;
  /** As it is known; undefined: it is not there. */
  place(): Promise<string | undefined>;
  /** Takes the bytes of a file; with `hold` the memory takes what the disk does not, and `store` tries that again. */
  receive(source: AsyncIterable<Buffer>, hold?: Hold): Promise<Part>;
  /** All or nothing: once this resolves they are there after a crash too. May be called again after it failed. */
  store(name: string, part: Part): Promise<Written>;
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
