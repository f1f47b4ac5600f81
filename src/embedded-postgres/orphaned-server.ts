import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { isAlive, stopServer } from './process-signals.js';
import { ownerLock } from './owner-lock.js';

/** How long a server that is there but not ready, such as one that recovers, is waited for. */
const recoveryPatienceMs = 60_000;
const retryMs = 200;

/**
 * A server left behind by a killed service is stopped; one that another service uses is left alone, and that is
 * said; a file left behind by a server that is gone is removed.
 */
export async function stopOrphanedServer(
  clusterDir: string,
  urlOf: (port: string) => string,
): Promise<'in use' | 'none'> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const deadline = performance.now() + recoveryPatienceMs;
  while (existsSync(pidFile)) {
    const [pidLine, , , port] = readFileSync(pidFile, 'utf8').split('\n');
    const pid = Number(pidLine);
    const ownership = await ask(urlOf(port || '0'));
    if (ownership === 'owned') return 'in use';
    if (ownership === 'free') {
      await stopServer(pid);
      return 'none';
    }
    // PostgreSQL believes a file whose process id another process has by now, for example after a reboot.
    if (!mayBeServer(pid)) {
      rmSync(pidFile, { force: true });
      return 'none';
    }
    if (performance.now() > deadline) return 'none';
    await delay(retryMs);
  }
  return 'none';
}

/** Whether a service holds the server at this URL. */
async function ask(url: string): Promise<'owned' | 'free' | 'no answer'> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      ownerLock,
    ]);
    return rows[0]!.free ? 'free' : 'owned';
  } catch {
    return 'no answer';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** False when the process is gone or, where that can be seen, is another program. */
function mayBeServer(pid: number): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return true;
  }
}
