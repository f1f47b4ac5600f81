import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { type ByteRange, downloadBytes, type FileStore, type Received, type Written } from './file-store.js';
import { onDisk, storageError } from './storage-error.js';

/**
 * Keeps files in a folder, which several nodes may share. Its marker distinguishes it from another folder and from one
 * that is not mounted.
 */
export class DiskStore implements FileStore {
  private readonly root: string;
  private readonly marker: string;

  constructor(dataDir: string) {
    this.root = resolve(dataDir, 'files');
    this.marker = join(this.root, 'place');
  }

  async place(): Promise<string | undefined> {
    const id = await readFile(this.marker, 'utf8').catch(absent);
    return id && `disk:${id.trim()}`;
  }

  async claimPlace(): Promise<string> {
    const known = await this.place();
    if (known !== undefined) return known;
    await onDisk(async () => {
      await mkdir(this.root, { recursive: true, mode: 0o700 });
      const own = `${this.marker}.${randomUUID()}`;
      await writeFile(own, `${randomUUID()}\n`, { mode: 0o600, flush: true });
      // The marker is whole from the start. If two nodes share the folder, one of them succeeds.
      await link(own, this.marker).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error;
      });
      await rm(own);
      await syncFolder(this.root);
    });
    return (await this.place())!;
  }

  async store(name: string, part: Received): Promise<Written> {
    const written = await part.settle();
    const target = join(this.root, name);
    await onDisk(async () => {
      await mkdir(dirname(target), { recursive: true, mode: 0o700 });
      if (part.path !== target) await rename(part.path, target);
      part.path = target;
      // New folders are entries of those above them, made now or by an earlier try.
      for (const folder of ['.', '..', '../..']) await syncFolder(join(dirname(target), folder));
    });
    return written;
  }

  async read(name: string, { start, end }: ByteRange): Promise<Readable | undefined> {
    const file = await open(join(this.root, name)).catch(absent);
    return file?.createReadStream({ start, end, highWaterMark: downloadBytes / 2 });
  }

  async remove(name: string): Promise<void> {
    await onDisk(() => rm(join(this.root, name), { force: true }));
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw storageError(error);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
