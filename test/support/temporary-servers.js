import { existsSync, readFileSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

export const temporaryPrefix = 'nowserving-test-';

/** A file system in memory, on Linux. */
const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

/**
 * Returns the folder for the directories of servers. In memory a database is made in a quarter of the time, which
 * counts because tests make hundreds.
 */
export function temporaryRoot() {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  const freeBytes = Math.min(bavail * bsize, process.availableMemory());
  return freeBytes < neededBytes ? tmpdir() : memory;
}

/** Asks the PostgreSQL in `directory` to stop at once; for ends that leave no time to wait. */
export function stopServerNow(directory) {
  const pidFile = join(directory, 'postgres', 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n')[0]);
  if (isAlive(pid)) process.kill(pid, 'SIGQUIT');
}

/** A test run that was killed leaves its server behind: the next one ends it. */
export function stopAbandonedServers() {
  const abandoned = [tmpdir(), memory]
    .filter((root) => existsSync(root))
    .flatMap((root) => readdirSync(root).map((name) => join(root, name)))
    .filter((path) => basename(path).startsWith(temporaryPrefix))
    .filter((path) => !isAlive(Number(basename(path).slice(temporaryPrefix.length).split('-')[0])));
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
