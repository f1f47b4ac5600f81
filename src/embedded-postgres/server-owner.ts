import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whom the embedded server runs as; empty: whoever runs this process. */
export interface Owner {
  uid?: number;
  gid?: number;
}

/** Nothing of ours: the server needs none of it, and it may hold secrets. */
export const serverEnvironment = { LC_ALL: 'C' };

/** PostgreSQL refuses to run as root: then it runs as the user `postgres`, made if need be. */
export async function serverOwner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const ids = async (): Promise<Owner> => ({
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
export async function assertReachable(binary: string, clusterDir: string, owner: Owner): Promise<void> {
  if (owner.uid === undefined) return;
  for (const target of [binary, clusterDir]) {
    for (let dir = dirname(target); dir !== dirname(dir); dir = dirname(dir)) {
      const { mode, uid, gid } = statSync(dir);
      const bit = uid === owner.uid ? 0o100 : gid === owner.gid ? 0o010 : 0o001;
      if ((mode & bit) === 0) {
        throw new Error(
          `PostgreSQL runs as the user "postgres", who may not enter ${dir}. Run the service as an ordinary ` +
            `user, move it to a directory that others may enter (such as /opt), or set DATABASE_URL.`,
        );
      }
    }
  }
}
