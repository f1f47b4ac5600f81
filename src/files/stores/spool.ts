import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DomainError } from '../../errors/domain-error.js';
import { freeMemory } from '../free-memory.js';
import type { Written } from './file-store.js';

/** Written while the next one comes in. */
const blockBytes = 512 * 1024;
/** A write that is going on was written to since. */
const leftoverMs = 3_600_000;

export interface Spooled extends Written {
  path: string;
}

/** Files that are being written, under temporary names. */
export class Spool {
  constructor(
    private readonly folder: string,
    private readonly maxBytes: number,
  ) {}

  /** On the disk, fsync included; what fails leaves nothing behind. The source's chunks are used up. */
  async write(source: AsyncIterable<Buffer>): Promise<Spooled> {
    const path = join(this.folder, `${randomUUID()}.part`);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const file = await open(path, 'wx', 0o600);
      try {
        const written = await this.copy(source, file);
        await file.sync();
        return { ...written, path };
      } finally {
        await file.close();
      }
    } catch (error) {
      await this.discard(path);
      throw storageError(error);
    }
  }

  async discard(path: string): Promise<void> {
    await rm(path, { force: true });
  }

  async removeLeftovers(): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) {
      const path = join(this.folder, name);
      const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity);
      if (age > leftoverMs) await this.discard(path);
    }
  }

  private async copy(source: AsyncIterable<Buffer>, file: FileHandle): Promise<Written> {
    const hash = createHash('sha256');
    let size = 0;
    let block: Buffer[] = [];
    let blockSize = 0;
    let writing: Promise<void> | undefined;
    const flush = async (): Promise<void> => {
      await writing;
      const chunks = block;
      writing = writeAll(file, chunks).then(() => chunks.forEach(freeMemory));
      writing.catch(() => undefined); // awaited with the next block
      [block, blockSize] = [[], 0];
    };
    try {
      for await (const chunk of source) {
        size += chunk.length;
        if (size > this.maxBytes) throw fileTooLarge(this.maxBytes);
        hash.update(chunk);
        block.push(chunk);
        blockSize += chunk.length;
        if (blockSize >= blockBytes) await flush();
      }
      await flush();
      await writing;
      return { size, sha256: hash.digest() };
    } finally {
      // Before the file is closed under it.
      await writing?.catch(() => undefined);
    }
  }
}

async function writeAll(file: FileHandle, chunks: Buffer[]): Promise<void> {
  if (chunks.length === 0) return;
  const total = chunks.reduce((sum, { length }) => sum + length, 0);
  let { bytesWritten: done } = await file.writev(chunks);
  if (done === total) return;
  // A disk that is nearly full takes a part; the next write says why.
  const all = Buffer.concat(chunks, total);
  while (done < total) done += (await file.write(all, done)).bytesWritten;
}

export function fileTooLarge(maxBytes: number): DomainError {
  return new DomainError('body_too_large', `A file may have ${maxBytes} bytes at most.`);
}

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What a file system's error means for who uploads; others as they are. */
export function storageError(error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined || error instanceof DomainError) return error;
  if (full.has(code)) {
    const detail = 'The service has no room left for this file. Nothing of it was kept.';
    return new DomainError('storage_full', detail, { retryAfterSeconds: 60, cause: error });
  }
  if (!['EACCES', 'EPERM', 'EROFS', 'EEXIST', 'ENOTDIR', 'EIO'].includes(code)) return error;
  const detail = `The folder of files cannot be used (${code}). The operator sets it by DATA_DIR.`;
  return new DomainError('unavailable', detail, { cause: error });
}
