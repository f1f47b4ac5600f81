import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { isAlive } from './process-signals.js';

/** A start takes seconds; a lock much older than that belongs to a process that is gone, whichever process has its id now. */
const staleAfterMs = 180_000;
const retryMs = 100;

/** Does `work` while no other process does in this directory; waits for one that does. */
export async function withStartLock<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const file = join(directory, 'starting');
  while (!take(file)) await delay(retryMs);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

function take(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  if (isStale(file)) rmSync(file, { force: true });
  return false;
}

/** Left behind by a process that was killed while it started. */
function isStale(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    const ageMs = Date.now() - statSync(file).mtimeMs;
    // Created but not written yet, it names no process: only its age counts.
    return ageMs > staleAfterMs || (pid > 0 && (pid === process.pid || !isAlive(pid)));
  } catch {
    return false; // it was given back while we looked
  }
}
