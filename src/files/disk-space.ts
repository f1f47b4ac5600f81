import { existsSync, type StatsFs } from 'node:fs';
import { stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Injectable } from '@nestjs/common';
import { Config } from '../config/config.js';
import { StorageUnavailable } from './stores/storage-error.js';

/** On a small volume the reserve is at most this part of it. */
const reservedPart = 0.1;
/** The volume is measured again after this time, or once this part of the reserve was written. */
const freshMs = 1_000;
const freshPart = 1 / 8;
/** With less than this part of the reserve, the embedded database may soon refuse writes. */
const neededPart = 1 / 4;

export type VolumeName = 'files' | 'database';

export interface Volume {
  name: VolumeName;
  freeBytes: number;
  sizeBytes: number;
  /** Bytes kept for the database: RESERVED_DISK, or a tenth of a small volume. */
  reservedBytes: number;
}

interface Look {
  volume: Volume;
  at: number;
}

/** Measures what is free where this process keeps files and, if it is embedded, the database. */
@Injectable()
export class DiskSpace {
  /** Returns what the system reports about a folder's volume. */
  measure: (folder: string) => Promise<Pick<StatsFs, 'bavail' | 'blocks' | 'bsize'>> = statfs;
  private look: Look | undefined;
  private looking: Promise<Look> | undefined;
  /** Bytes that are being written, or were written since the last look. */
  private writtenSince = 0;
  private readonly root: string;
  private readonly hasDatabase: boolean;

  constructor(private readonly config: Config) {
    this.root = resolve(config.dataDir);
    this.hasDatabase = config.databaseUrl === undefined;
  }

  /** Throws if the next byte of a file would use what is kept for the database. */
  assertRoom(): Promise<void> {
    return this.take(0);
  }

  /** Does the same for bytes that are written right after it, and counts them. */
  async take(bytes: number): Promise<void> {
    if (this.config.reservedDiskBytes === 0) return;
    const { volume } = await this.recent();
    // Calls that waited for one look each see what the calls before them took.
    const left = volume.freeBytes - this.writtenSince - bytes;
    if (volume.sizeBytes > 0 && left < volume.reservedBytes) throw nearlyFull();
    this.writtenSince += bytes;
  }

  /** Returns each volume once. A disk that holds both is named after the database. */
  async volumes(): Promise<Volume[]> {
    const [files, database] = [this.folderOf('files'), this.folderOf('postgres')];
    if (!this.hasDatabase) return [await this.volumeAt('files', files)];
    const [one, other] = await Promise.all([stat(files), stat(database)]);
    const ofDatabase = await this.volumeAt('database', database);
    return one.dev === other.dev ? [ofDatabase] : [await this.volumeAt('files', files), ofDatabase];
  }

  /** Returns whether the embedded database has so little left that it may soon refuse what is written. */
  async isDatabaseShort(): Promise<boolean> {
    if (!this.hasDatabase || this.config.reservedDiskBytes === 0) return false;
    const volume = await this.volumeAt('database', this.folderOf('postgres')).catch(() => undefined);
    if (volume === undefined || volume.sizeBytes === 0) return false;
    return volume.freeBytes < volume.reservedBytes * neededPart;
  }

  private async recent(): Promise<Look> {
    const { look } = this;
    const isFresh =
      look !== undefined &&
      performance.now() - look.at < freshMs &&
      this.writtenSince < look.volume.reservedBytes * freshPart;
    return isFresh ? look : (this.looking ??= this.lookAgain().finally(() => (this.looking = undefined)));
  }

  private async lookAgain(): Promise<Look> {
    // Bytes written during the look may or may not be in its result, so they count until the next look.
    this.writtenSince = 0;
    const at = performance.now();
    return (this.look = { volume: await this.volumeAt('files', this.folderOf('files')), at });
  }

  private async volumeAt(name: VolumeName, folder: string): Promise<Volume> {
    const { bavail, blocks, bsize } = await this.measure(folder);
    const sizeBytes = blocks * bsize;
    const reservedBytes = Math.min(this.config.reservedDiskBytes, sizeBytes * reservedPart);
    return { name, freeBytes: bavail * bsize, sizeBytes, reservedBytes };
  }

  /** Returns a folder below DATA_DIR. If it does not exist yet, returns the closest existing folder above it. */
  private folderOf(name: string): string {
    let folder = join(this.root, name);
    while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
    return folder;
  }
}

function nearlyFull(): StorageUnavailable {
  const detail =
    'The disk of the service is nearly full, and the rest is reserved for its database. The operator has to make ' +
    'room (RESERVED_DISK); then send the file again.';
  return new StorageUnavailable('reserve', detail);
}
