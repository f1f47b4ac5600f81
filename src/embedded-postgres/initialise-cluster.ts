import { execFile } from 'node:child_process';
import {
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { DataDirectory } from './data-directory.js';
import { type Owner, serverEnvironment } from './server-owner.js';

const run = promisify(execFile);

/** Makes the cluster beside its place and moves it there when it is complete, so that a kill leaves no half of one. */
export async function initialiseCluster(
  { name, path, clusterDir, passwordFile }: DataDirectory,
  initdb: string,
  owner: Owner,
): Promise<void> {
  const passwordCopy = join(path, 'password.initdb');
  const settings = ['-U', 'postgres', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
  try {
    removeUnfinished(clusterDir);
    // A name of its own: what was begun by a start that was killed may still be written to.
    const unfinished = mkdtempSync(unfinishedPrefix(clusterDir));
    writeFileSync(passwordCopy, readFileSync(passwordFile), { mode: 0o600 });
    if (owner.uid !== undefined) {
      for (const file of [unfinished, passwordCopy]) chownSync(file, owner.uid, owner.gid!);
    }
    await run(initdb, ['-D', unfinished, `--pwfile=${passwordCopy}`, ...settings], {
      ...owner,
      env: serverEnvironment,
    });
    renameSync(unfinished, clusterDir);
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: string };
    const said = (stderr ?? message).trim().split('\n').pop();
    throw new Error(`PostgreSQL could not be initialised in ${name}: ${said}`, { cause });
  } finally {
    rmSync(passwordCopy, { force: true });
  }
}

function unfinishedPrefix(clusterDir: string): string {
  return `${clusterDir}.new-`;
}

function removeUnfinished(clusterDir: string): void {
  const prefix = basename(unfinishedPrefix(clusterDir));
  for (const name of readdirSync(dirname(clusterDir))) {
    if (name.startsWith(prefix)) {
      rmSync(join(dirname(clusterDir), name), { recursive: true, force: true, maxRetries: 5 });
    }
  }
}
