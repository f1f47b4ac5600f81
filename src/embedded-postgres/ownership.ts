import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const ownerLock = 0x6e6f7773;
const retakeMs = 500;
const stopPatienceMs = 30_000;
const retryMs = 200;

/** SQLSTATE of a server that starts, recovers or stops. */
const cannotConnectNow = '57P03';

/** `owned`: a service holds the lock. `starting`: the server starts or recovers, and takes no sessions yet. */
export type Refusal = 'owned' | 'starting' | 'no answer';

/**
 * Shows other processes that the embedded server is in use, as long as this process lives. Retakes the lock after a
 * lost connection.
 */
export class OwnerLock {
  private session: pg.Client | undefined;
  private retaking: Promise<void> | undefined;
  private readonly released = new AbortController();

  /** `withStartLock`: runs work while no other process starts a server in the directory. */
  constructor(
    private readonly withStartLock: (work: () => Promise<void>, signal: AbortSignal) => Promise<void>,
  ) {}

  async take(url: string): Promise<'taken' | Refusal> {
    const session = await lockedSession(url);
    if (typeof session === 'string') return session;
    this.session = session;
    session.once('end', () => {
      this.retaking = this.takeAgain(url);
    });
    return 'taken';
  }

  async release(): Promise<void> {
    this.released.abort();
    await this.retaking;
    await this.session?.end().catch(() => undefined);
  }

  /** Until it has the lock again, a start of another process would take the server for one that was left behind. */
  private async takeAgain(url: string): Promise<void> {
    const { signal } = this.released;
    if (signal.aborted) return;
    const retake = async (): Promise<void> => {
      while (!signal.aborted) {
        await delay(retakeMs, undefined, { ref: false, signal }).catch(() => undefined);
        if (signal.aborted || (await this.take(url)) === 'taken') return;
      }
    };
    // On a full disk there is no start lock, and other starts fail too.
    await this.withStartLock(retake, signal).catch(retake);
  }
}

/**
 * Stops a server left behind by a killed service, and removes a pid file left behind by a dead server. False: another
 * service uses the server, which keeps running. `isOver`: whether to give up after this answer of the server.
 */
export async function freeCluster(
  clusterDir: string,
  urlOf: (port: string) => string,
  isOver: (refusal: Refusal) => boolean,
  signal?: AbortSignal,
): Promise<boolean> {
  const pidFile = join(clusterDir, 'postmaster.pid');
  while (existsSync(pidFile)) {
    const [pidLine, , , port] = readFileSync(pidFile, 'utf8').split('\n');
    const pid = Number(pidLine);
    const session = await lockedSession(urlOf(port || '0'));
    if (session === 'owned') return false;
    if (typeof session !== 'string') {
      await session.end().catch(() => undefined);
      await stopServer(pid);
      break;
    }
    // PostgreSQL trusts a pid file even if another process has that id now, for example after a reboot.
    if (!mayBeServer(pid)) rmSync(pidFile, { force: true });
    else if (isOver(session)) break;
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

/** Returns a session that has taken the lock. */
async function lockedSession(url: string): Promise<pg.Client | Refusal> {
  const session = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    application_name: 'nowserving owner',
  });
  session.on('error', () => undefined);
  let answer: Refusal = 'no answer';
  try {
    await session.connect();
    const { rowCount } = await session.query('SELECT WHERE pg_try_advisory_lock($1)', [ownerLock]);
    if (rowCount === 1) return session;
    answer = 'owned';
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === cannotConnectNow && !message.includes('shutting down')) answer = 'starting';
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
