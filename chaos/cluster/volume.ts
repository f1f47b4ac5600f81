import { spawnSync } from 'node:child_process';
import { mkdirSync, statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';

const megabyte = 1024 * 1024;

/** A small file system (tmpfs) that a fault can fill. Only root can mount it. */
export class Volume {
  private readonly ballast: string;

  constructor(
    readonly path: string,
    megabytes: number,
  ) {
    mkdirSync(path);
    this.ballast = join(path, 'ballast');
    const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
    if (mount.status !== 0) throw new Error(`A volume cannot be mounted: ${String(mount.stderr)}`);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.path);
    return bavail * bsize;
  }

  /** Writes until no byte is free. Another call also uses what was freed since. */
  async fill(): Promise<void> {
    const file = await open(this.ballast, 'a');
    const block = Buffer.alloc(4 * megabyte);
    try {
      for (let bytes = block.length; bytes >= 512; bytes /= 2) {
        try {
          while ((await file.write(block, 0, bytes)).bytesWritten === bytes);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
        }
      }
    } finally {
      await file.close();
    }
  }

  async free(): Promise<void> {
    await rm(this.ballast, { force: true });
  }

  /** Call it once nothing uses the volume. A process that was killed may have it open for a moment. */
  unmount(): void {
    spawnSync('umount', ['--lazy', this.path]);
  }
}
