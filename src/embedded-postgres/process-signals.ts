import { setTimeout as delay } from 'node:timers/promises';

const stopPatienceMs = 30_000;

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** PostgreSQL's fast shutdown: sessions end, everything is flushed. Resolves when the process is gone. */
export async function stopServer(pid: number): Promise<void> {
  if (!isAlive(pid)) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + stopPatienceMs;
  while (isAlive(pid) && performance.now() < deadline) await delay(50);
}
