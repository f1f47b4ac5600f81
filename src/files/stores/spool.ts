import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { DomainError } from '../../errors/domain-error.js';
import { DiskSpace } from '../disk-space.js';
import { freeMemory } from '../free-memory.js';
import type { Memory, Received, Written } from './file-store.js';
import { onDisk, StorageUnavailable } from './storage-error.js';

/** Bytes that a large upload has in memory: a block that is being written, and the next one, which comes in meanwhile. */
export const uploadBytes = 256 * 1024;
const blockBytes = uploadBytes / 2;
/** A temporary file that was not written to for this long is a leftover. */
const leftoverMs = 3_600_000;

/** Files that are being written, under temporary names. */
@Injectable()
export class Spool {
  private readonly folder: string;
  /** Those that are coming, or wait to be stored. */
  private readonly parts = new Set<Part>();

  constructor(
    private readonly config: Config,
    private readonly space: DiskSpace,
  ) {
    this.folder = resolve(config.dataDir, 'files', 'temporary');
  }

  /**
   * Takes all of a source, and uses up its chunks. Without `memory`, it fails if the disk does not take them, and leaves
   * nothing behind. With `memory`, what the disk does not take waits in memory, as far as `memory` allows.
   */
  async receive(source: AsyncIterable<Buffer>, memory?: Memory): Promise<Received> {
    const part: Part = new Part(
      join(this.folder, `${randomUUID()}.part`),
      this.config.maxFileBytes,
      this.space,
      memory,
      () => this.parts.delete(part),
    );
    this.parts.add(part);
    try {
      await part.take(source);
      return part;
    } catch (error) {
      await part.discard();
      throw error;
    }
  }

  /** Makes what waits here look new, also to other nodes with the same folder. */
  async touch(): Promise<void> {
    const now = new Date();
    for (const { path } of this.parts) await utimes(path, now, now).catch(() => undefined);
  }

  /** Removes what unfinished writes have left. */
  async removeLeftovers(): Promise<void> {
    const names = await readdir(this.folder).catch(() => []);
    for (const name of names) {
      const path = join(this.folder, name);
      const age = Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? Infinity);
      if (age > leftoverMs) await rm(path, { force: true });
    }
  }
}

interface Block {
  chunks: Buffer[];
  bytes: number;
}

const emptyBlock = (): Block => ({ chunks: [], bytes: 0 });

/** One file that has come or is coming: on the disk, and in memory as far as the disk did not take it. */
class Part implements Received {
  private readonly hash = createHash('sha256');
  private sha256: Buffer | undefined;
  private size = 0;
  private file: FileHandle | undefined;
  /** Bytes that are on the disk. */
  private written = 0;
  private block = emptyBlock();
  private writing: Promise<void> | undefined;
  /** The error with which the disk refused. From then on chunks stay in memory. */
  private refusal: StorageUnavailable | undefined;
  private keptBytes = 0;
  private isSettled = false;

  /** `onLeft`: called when the file leaves the folder, because it is stored or discarded. */
  constructor(
    private place: string,
    private readonly maxBytes: number,
    private readonly space: DiskSpace,
    private readonly memory: Memory | undefined,
    private readonly onLeft: () => void,
  ) {}

  get path(): string {
    return this.place;
  }

  /** Code that moves the file updates the path. */
  set path(path: string) {
    this.place = path;
    this.onLeft();
  }

  async take(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of source) {
      this.size += chunk.length;
      if (this.size > this.maxBytes) throw fileTooLarge(this.maxBytes);
      this.hash.update(chunk);
      if (this.block.bytes + chunk.length > blockBytes) await this.writeBehind();
      this.block.chunks.push(chunk);
      this.block.bytes += chunk.length;
      if (this.refusal !== undefined) this.keepInMemory();
    }
    if (this.refusal === undefined) await this.writeBehind();
    await this.untilWritten();
    this.sha256 = this.hash.digest();
  }

  /** Writes all of it to the disk, fsync included. May be called again after it failed. */
  async settle(): Promise<Written> {
    if (!this.isSettled) {
      const block = this.block;
      await this.write(block);
      this.block = emptyBlock();
      await onDisk(() => this.file!.sync());
      await this.close();
      this.releaseMemory();
      this.isSettled = true;
    }
    return { size: this.size, sha256: this.sha256! };
  }

  /** Removes what exists of it, at `path`. */
  async discard(): Promise<void> {
    this.onLeft();
    await this.writing?.catch(() => undefined);
    await this.close().catch(() => undefined);
    this.block = emptyBlock();
    this.releaseMemory();
    await rm(this.path, { force: true }).catch(() => undefined);
  }

  private async close(): Promise<void> {
    const { file } = this;
    this.file = undefined;
    await file?.close();
  }

  /** Writes the block while the next one is read. */
  private async writeBehind(): Promise<void> {
    await this.untilWritten();
    if (this.refusal !== undefined) return;
    const block = this.block;
    this.block = emptyBlock();
    this.writing = this.write(block).catch((error: unknown) => {
      if (this.memory === undefined || !(error instanceof StorageUnavailable)) throw error;
      this.refusal = error;
      this.block = {
        chunks: [...block.chunks, ...this.block.chunks],
        bytes: block.bytes + this.block.bytes,
      };
    });
    this.writing.catch(() => undefined); // awaited with the next block
  }

  /** Waits for the block that is being written. */
  private async untilWritten(): Promise<void> {
    await this.writing;
    this.writing = undefined;
    if (this.refusal !== undefined) this.keepInMemory();
  }

  private keepInMemory(): void {
    const more = this.block.bytes - this.keptBytes;
    if (more <= 0) return;
    if (!this.memory!.take(more)) throw this.refusal!;
    this.keptBytes += more;
  }

  private releaseMemory(): void {
    if (this.keptBytes > 0) this.memory!.release(this.keptBytes);
    this.keptBytes = 0;
  }

  private async write({ chunks, bytes }: Block): Promise<void> {
    if (bytes > 0) await this.space.take(bytes);
    await onDisk(async () => {
      this.file ??= await this.open();
      // A repeated write overwrites what the first one wrote.
      if (bytes > 0) await writeAll(this.file, chunks, bytes, this.written);
    });
    this.written += bytes;
    chunks.forEach(freeMemory);
  }

  private async open(): Promise<FileHandle> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    return open(this.path, 'wx', 0o600);
  }
}

async function writeAll(file: FileHandle, chunks: Buffer[], total: number, position: number): Promise<void> {
  let { bytesWritten: done } = await file.writev(chunks, position);
  if (done === total) return;
  // A nearly full disk takes a part, and the next write fails with the reason.
  const all = Buffer.concat(chunks, total);
  while (done < total) done += (await file.write(all, done, total - done, position + done)).bytesWritten;
}

export function fileTooLarge(maxBytes: number): DomainError {
  return new DomainError('body_too_large', `A file may have ${maxBytes} bytes at most.`);
}
