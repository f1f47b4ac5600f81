import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const ownerLock = 0x6e6f7773;
const retakeMs = 500;
const stopPatienceMs = 30_000;
/** How long to wait for a server that exists but is not ready, for example during recovery. */
const recoveryPatienceMs = 60_000;
const retryMs = 200;

/**
 * Shows other processes that the embedded server is in use, as long as this process lives. Retakes the lock after a
 * lost connection.
 */
export class OwnerLock {
  private session: pg.Client | undefined;
  private released = false;

  /** False: the server is not ready, or another service holds the lock. */
  async take(url: string): Promise<boolean> {
    const session = await lockedSession(url);
    if (typeof session === 'string') return false;
    this.session = session;
    session.once('end', () => void this.takeAgain(url));
    return true;
  }

  async release(): Promise<void> {
    this.released = true;
    await this.session?.end().catch(() => undefined);
  }

  private async takeAgain(url: string): Promise<void> {
    while (!this.released) {
      await delay(retakeMs, undefined, { ref: false });
      if (this.released || (await this.take(url))) return;
    }
  }
}

/**
 * Stops a server left behind by a killed service, and removes a pid file left behind by a dead server. False: another
 * service uses the server, which keeps running.
 */
export async function freeCluster(
  clusterDir: string,
  urlOf: (port: string) => string,
  signal?: AbortSignal,
): Promise<boolean> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  const deadline = performance.now() + recoveryPatienceMs;
  while (existsSync(pidFile)) {
    const [pidLine, , , port] = readFileSync(pidFile, 'utf8').split('\n');
    const pid = Number(pidLine);
    const session = await lockedSession(urlOf(port || '0'));
    if (session === 'owned') return false;
    if (session !== 'no answer') {
      await session.end().catch(() => undefined);
      await stopServer(pid);
      break;
    }
    // PostgreSQL trusts a pid file even if another process has that id now, for example after a reboot.
    if (!mayBeServer(pid)) rmSync(pidFile, { force: true });
    else if (performance.now() > deadline) break;
    else await delay(retryMs, undefined, { signal });
  }
  return true;
}

/**
 * Requests PostgreSQL's fast shutdown, which ends sessions and flushes everything. Resolves when the process is gone,
 * or after 30 s.
 */
export async function stopServer(pid: number): Promise<void> {
  if (!isAlive(pid)) return;
  process.kill(pid, 'SIGINT');
  const deadline = performance.now() + stopPatienceMs;
  while (isAlive(pid) && performance.now() < deadline) await delay(50);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns a session that has taken the lock. `owned`: a service holds it. */
async function lockedSession(url: string): Promise<pg.Client | 'owned' | 'no answer'> {
  const session = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'nowserving owner',
  });
  session.on('error', () => undefined);
  let answer: 'owned' | 'no answer' = 'no answer';
  try {
    await session.connect();
    const { rowCount } = await session.query('SELECT WHERE pg_try_advisory_lock($1)', [ownerLock]);
    if (rowCount === 1) return session;
    answer = 'owned';
  } catch {
    // the server is down or not ready
  }
  await session.end().catch(() => undefined);
  return answer;
}

/** Returns false if the process is gone or, where this is visible, is another program. */
function mayBeServer(pid: number): boolean {
  if (!(pid > 0) || !isAlive(pid)) return false;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
  } catch {
    return true;
  }
}
