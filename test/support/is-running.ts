import { readFile } from 'node:fs/promises';

/** A process that has ended, and whose parent has not noticed, does not run. */
export async function isRunning(pid: string): Promise<boolean> {
  try {
    return !/^State:\s+Z/m.test(await readFile(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
