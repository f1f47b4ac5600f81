import type { SpawnOptions } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './ownership.js';

/** The holder of a lock renews it. A much older lock belongs to a dead process, even if another has its id now. */
const staleAfterMs = 180_000;
const renewMs = 30_000;
/** A lock gets the id of its holder right after its creation. One without an id was left by a crash or a full disk. */
const unwrittenAfterMs = 5_000;
const retryMs = 100;
/** A usual start ends earlier. */
const reportAfterMs = 10_000;

/** The user that the embedded server runs as. Empty: the user of this process. */
export type ServerUser = Pick<SpawnOptions, 'uid' | 'gid'>;

export interface StartOptions {
  signal?: AbortSignal | undefined;
  /** Receives a sentence that names what the start waits for. */
  report?: ((sentence: string) => void) | undefined;
}

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

  /** Runs `work` while no other process starts a server here, waiting for another start to end. */
  async withStartLock<T>(work: () => Promise<T>, { signal, report }: StartOptions = {}): Promise<T> {
    const reportAt = performance.now() + reportAfterMs;
    for (let isReported = false; !this.takeStartLock(); await delay(retryMs, undefined, { signal })) {
      if (isReported || performance.now() < reportAt) continue;
      report?.(`Waiting for another process that starts PostgreSQL in ${this.name}; see ${this.log}.`);
      isReported = true;
    }
    const renewal = setInterval(() => renew(this.startLock), renewMs).unref();
    try {
      return await work();
    } finally {
      clearInterval(renewal);
      heldLocks.delete(this.startLock);
      fs.rmSync(this.startLock, { force: true });
    }
  }

  /** Creates the password that the cluster will have. One that is there is kept, unless a crash left it empty. */
  createPassword(): void {
    this.asUsable(() => {
      if (fs.existsSync(this.passwordFile) && fs.statSync(this.passwordFile).size > 0) return;
      const whole = `${this.passwordFile}.new`;
      fs.writeFileSync(whole, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
      fs.renameSync(whole, this.passwordFile);
    });
  }

  private takeStartLock(): boolean {
    return this.asUsable(() => {
      if (createLock(this.startLock)) return true;
      if (isStale(this.startLock)) fs.rmSync(this.startLock, { force: true });
      return false;
    });
  }

  private asUsable<T>(work: () => T): T {
    try {
      return work();
    } catch (cause) {
      const { code = 'error' } = cause as NodeJS.ErrnoException;
      const advice =
        code === 'ENOSPC' || code === 'EDQUOT'
          ? 'Make room on its disk.'
          : 'Set DATA_DIR to a directory that this user can write to, or DATABASE_URL to a PostgreSQL.';
      throw new Error(`The data directory ${this.name} cannot be used (${code}). ${advice}`, { cause });
    }
  }
}

/** The locks of this process. After a restart of a container, another process may have left one with the same id. */
const heldLocks = new Set<string>();

/** False: another start has it. */
function createLock(lock: string): boolean {
  let file: number;
  try {
    file = fs.openSync(lock, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    fs.writeSync(file, String(process.pid));
  } catch (error) {
    // A full disk creates files, but writes none.
    fs.rmSync(lock, { force: true });
    throw error;
  } finally {
    fs.closeSync(file);
  }
  heldLocks.add(lock);
  return true;
}

function renew(lock: string): void {
  const now = new Date();
  fs.utimes(lock, now, now, () => undefined);
}

/** Returns whether the lock was left behind by a process killed during its start. */
function isStale(lock: string): boolean {
  try {
    const pid = Number(fs.readFileSync(lock, 'utf8'));
    const ageMs = Date.now() - fs.statSync(lock).mtimeMs;
    if (!(pid > 0)) return ageMs > unwrittenAfterMs;
    if (pid === process.pid) return !heldLocks.has(lock);
    return ageMs > staleAfterMs || !isAlive(pid);
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
