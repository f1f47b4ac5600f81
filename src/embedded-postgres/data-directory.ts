import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Owner } from './server-owner.js';

/** Where the embedded server keeps what. */
export class DataDirectory {
  readonly path: string;
  readonly clusterDir: string;
  readonly passwordFile: string;
  readonly log: string;
  readonly urlFile: string;

  constructor(
    /** As the user wrote it. */
    readonly name: string,
  ) {
    this.path = resolve(name);
    this.clusterDir = join(this.path, 'postgres');
    this.passwordFile = join(this.path, 'password');
    this.log = join(this.path, 'postgres.log');
    this.urlFile = join(this.path, 'database-url');
  }

  /** Makes what is missing. */
  prepare(owner: Owner): void {
    try {
      makeDirectories(this.path);
      accessSync(this.path, constants.R_OK | constants.W_OK | constants.X_OK);
      if (owner.uid !== undefined) chmodSync(this.path, 0o711);
    } catch (cause) {
      throw this.unusable(cause);
    }
  }

  /** A cluster that an ordinary user made stays that user's when root starts it. */
  ownerOf(fallback: Owner): Owner {
    if (fallback.uid === undefined || !existsSync(this.clusterDir)) return fallback;
    const { uid, gid } = statSync(this.clusterDir);
    return uid === 0 ? fallback : { uid, gid };
  }

  /** The password is made once; call it while no other process starts here. */
  preparePassword(): void {
    try {
      if (existsSync(this.passwordFile)) return;
      writeFileSync(this.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    } catch (cause) {
      throw this.unusable(cause);
    }
  }

  private unusable(cause: unknown): Error {
    const { code = 'error' } = cause as NodeJS.ErrnoException;
    return new Error(
      `The data directory ${this.name} cannot be used (${code}). ` +
        'Set DATA_DIR to a directory that this user can write to, or DATABASE_URL to a PostgreSQL.',
      { cause },
    );
  }
}

/** Not by `recursive: true`: that never ends where a parent says ENOENT to a new directory, as /proc does. */
function makeDirectories(path: string): void {
  if (existsSync(path)) return;
  makeDirectories(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
