import { execFile } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
  const unfinished = `${clusterDir}.new`;
  const passwordCopy = join(path, 'password.initdb');
  const settings = ['-U', 'postgres', '-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C'];
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(unfinished, { mode: 0o700 });
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
