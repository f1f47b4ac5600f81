import type { SpawnOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './ownership.js';

/** A start takes seconds. A much older lock belongs to a dead process, even if another process has its id now. */
const staleAfterMs = 180_000;
const retryMs = 100;

/** The user that the embedded server runs as. Empty: the user of this process. */
export type ServerUser = Pick<SpawnOptions, 'uid' | 'gid'>;

/** The paths of the embedded server's files. */
export class DataDirectory {
  readonly path = resolve(this.name);
  readonly clusterDir = join(this.path, 'postgres');
  readonly passwordFile = join(this.path, 'password');
  readonly log = join(this.path, 'postgres.log');
  readonly urlFile = join(this.path, 'database-url');
  private readonly startLock = join(this.path, 'starting');

  /** `name`: the directory as the user wrote it. */
  constructor(readonly name: string) {}

  prepare(user: ServerUser): void {
    this.asUsable(() => {
      makeDirectories(this.path);
      fs.accessSync(this.path, fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
      if (user.uid !== undefined) fs.chmodSync(this.path, 0o711);
    });
  }

  /** A cluster created by an ordinary user keeps its owner when root starts it. */
  userOf(fallback: ServerUser): ServerUser {
    if (fallback.uid === undefined || !fs.existsSync(this.clusterDir)) return fallback;
    const { uid, gid } = fs.statSync(this.clusterDir);
    return uid === 0 ? fallback : { uid, gid };
  }

  /**
   * Runs `work` while no other process starts a server here, waiting for another start to end. Creates the password the
   * first time.
   */
  async withStartLock<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (!this.takeStartLock()) await delay(retryMs, undefined, { signal });
    try {
      this.asUsable(() => {
        if (fs.existsSync(this.passwordFile)) return;
        fs.writeFileSync(this.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
      });
      return await work();
    } finally {
      fs.rmSync(this.startLock, { force: true });
    }
  }

  private takeStartLock(): boolean {
    try {
      fs.writeFileSync(this.startLock, String(process.pid), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (isStale(this.startLock)) fs.rmSync(this.startLock, { force: true });
      return false;
    }
  }

  private asUsable(work: () => void): void {
    try {
      work();
    } catch (cause) {
      const { code = 'error' } = cause as NodeJS.ErrnoException;
      throw new Error(
        `The data directory ${this.name} cannot be used (${code}). ` +
          'Set DATA_DIR to a directory that this user can write to, or DATABASE_URL to a PostgreSQL.',
        { cause },
      );
    }
  }
}

/** Returns whether the lock was left behind by a process killed during its start. */
function isStale(lock: string): boolean {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'));
    const ageMs = Date.now() - fs.statSync(lock).mtimeMs;
    // A lock that was created but not written yet names no process, so only its age counts.
    return ageMs > staleAfterMs || (pid > 0 && (pid === process.pid || !isAlive(pid)));
  } catch {
    return false; // the lock was released meanwhile
  }
}

/**
 * Does not use `recursive: true`, which never ends where a parent answers ENOENT for a new directory, as /proc does.
 */
function makeDirectories(path: string): void {
  if (fs.existsSync(path)) return;
  makeDirectories(dirname(path));
  try {
    fs.mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
