import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const temporaryPrefix = 'nowserving-test-';

/** Asks the PostgreSQL in `directory` to stop at once; for ends that leave no time to wait. */
export function stopServerNow(directory) {
  const pidFile = join(directory, 'postgres', 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (isAlive(pid)) process.kill(pid, 'SIGQUIT');
}

/** A test run that was killed leaves its server behind: the next one ends it. */
export function stopAbandonedServers() {
  const abandoned = readdirSync(tmpdir())
    .filter((name) => name.startsWith(temporaryPrefix))
    .filter((name) => !isAlive(Number(name.slice(temporaryPrefix.length).split('-')[0])))
    .map((name) => join(tmpdir(), name));
  for (const directory of abandoned) stopServerNow(directory);
  removeDirectories(abandoned);
}

export function removeDirectories(directories) {
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
