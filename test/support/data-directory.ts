import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEachFile } from './after-each-file.js';

const made: string[] = [];

afterEachFile('last', async () => {
  for (const directory of made.splice(0))
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
});

/**
 * A directory that is removed after the file's tests. Everybody may read it, because as root the embedded server runs
 * as another user.
 */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'nowserving-files-'));
  made.push(directory);
  await chmod(directory, 0o755);
  return directory;
}

/** The pid file of the embedded server with this DATA_DIR. */
export const pidFile = (dataDir: string): string => join(dataDir, 'postgres', 'postmaster.pid');
export const serverPid = (dataDir: string): number =>
  Number(readFileSync(pidFile(dataDir), 'utf8').split('\n')[0]);
