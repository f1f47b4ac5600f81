import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { embeddedBinaries } from './embedded-binaries.js';
import { assertReachable, type Owner, serverOwner } from './server-owner.js';

const run = promisify(execFile);

/** Taken for as long as a service uses the directory, so that a second one on it gives up. */
const ownerLock = 0x6e6f7773;

/** Nothing of ours: the server needs none of it, and it may hold secrets. */
const serverEnvironment = { LC_ALL: 'C' };

/** A real PostgreSQL from npm in a directory of ours. It outlives neither `stop()` nor a clean exit. */
export class EmbeddedPostgres {
  private readonly clusterDir: string;
  private readonly passwordFile: string;
  private lock: pg.Client | undefined;
  private pid: number | undefined;

  constructor(private readonly dataDir: string) {
    this.clusterDir = join(resolve(dataDir), 'postgres');
    this.passwordFile = join(resolve(dataDir), 'password');
  }

  /** Starts the server, initialising the directory the first time, and returns its URL. */
  async start(): Promise<string> {
    const binaries = await embeddedBinaries();
    const owner = await serverOwner();
    this.prepareDirectory(owner);
    await assertReachable(binaries.postgres, this.clusterDir, owner);
    if (!existsSync(join(this.clusterDir, 'PG_VERSION'))) await this.initialise(binaries.initdb, owner);
    await this.stopOrphan();

    const port = await freePort();
    const log = join(resolve(this.dataDir), 'postgres.log');
    const logFd = openSync(log, 'a', 0o600);
    const child = spawn(
      binaries.postgres,
      [
        '-D',
        this.clusterDir,
        '-p',
        String(port),
        '-c',
        'listen_addresses=127.0.0.1',
        '-c',
        'unix_socket_directories=',
      ],
      // A session of its own: Ctrl-C in the terminal must not stop the database before the service has drained.
      {
        ...owner,
        detached: true,
        stdio: ['ignore', logFd, logFd],
        env: serverEnvironment,
      },
    );
    closeSync(logFd);
    child.unref();
    this.pid = child.pid;
    let exited = false;
    child.once('exit', () => (exited = true));
    child.once('error', () => (exited = true));

    const url = this.url(port);
    await this.untilReady(url, () => exited, log);
    writeFileSync(join(resolve(this.dataDir), 'database-url'), `${url}\n`, { mode: 0o600 });
    return url;
  }

  /** A fast shutdown: sessions end, everything is flushed. */
  async stop(): Promise<void> {
    await this.lock?.end().catch(() => undefined);
    this.lock = undefined;
    if (this.pid !== undefined) await stopServer(this.pid);
    this.pid = undefined;
  }

  private url(port: number | string): string {
    return `postgresql://postgres:${readFileSync(this.passwordFile, 'utf8').trim()}@127.0.0.1:${port}/postgres`;
  }

  private prepareDirectory(owner: Owner): void {
    try {
      mkdirSync(this.clusterDir, { recursive: true, mode: 0o700 });
      if (owner.uid !== undefined) {
        chmodSync(resolve(this.dataDir), 0o711);
        chownSync(this.clusterDir, owner.uid, owner.gid!);
      }
      if (!existsSync(this.passwordFile)) {
        writeFileSync(this.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
      }
    } catch (cause) {
      throw new Error(
        `The data directory ${this.dataDir} cannot be used (${(cause as NodeJS.ErrnoException).code ?? 'error'}). ` +
          'Set DATA_DIR to a directory that this user can write to, or DATABASE_URL to a PostgreSQL.',
        { cause },
      );
    }
  }

  private async initialise(initdb: string, owner: Owner): Promise<void> {
    const passwordCopy = join(this.clusterDir, '..', `.initdb-${process.pid}`);
    writeFileSync(passwordCopy, readFileSync(this.passwordFile), { mode: 0o600 });
    if (owner.uid !== undefined) chownSync(passwordCopy, owner.uid, owner.gid!);
    try {
      await run(
        initdb,
        [
          '-D',
          this.clusterDir,
          '-U',
          'postgres',
          '-A',
          'scram-sha-256',
          `--pwfile=${passwordCopy}`,
          '-E',
          'UTF8',
          '--locale=C',
        ],
        { ...owner, env: serverEnvironment },
      );
    } catch (cause) {
      rmSync(join(this.clusterDir, 'PG_VERSION'), { force: true });
      const said = ((cause as { stderr?: string }).stderr ?? '').trim().split('\n').pop();
      throw new Error(`PostgreSQL could not be initialised in ${this.dataDir}: ${said}`, { cause });
    } finally {
      rmSync(passwordCopy, { force: true });
    }
  }

  /** A server left behind by a killed service is stopped; one that another service uses is left alone. */
  private async stopOrphan(): Promise<void> {
    const pidFile = join(this.clusterDir, 'postmaster.pid');
    if (!existsSync(pidFile)) return;
    const [pid, , , port] = readFileSync(pidFile, 'utf8').split('\n');
    const client = new pg.Client({ connectionString: this.url(port ?? '0'), connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch {
      return; // stale file: postgres itself removes it
    }
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      ownerLock,
    ]);
    await client.end();
    if (!rows[0]!.free) {
      throw new Error(
        `Another service is running on the data directory ${this.dataDir}. ` +
          'Stop it, set DATA_DIR to another directory, or set DATABASE_URL for both to share one PostgreSQL.',
      );
    }
    await stopServer(Number(pid));
  }

  private async untilReady(url: string, exited: () => boolean, log: string): Promise<void> {
    for (let tries = 0; tries < 1_200; tries++) {
      if (exited()) {
        const said = readFileSync(log, 'utf8').trim().split('\n').slice(-2).join(' ');
        throw new Error(`PostgreSQL did not start in ${this.dataDir}: ${said}`);
      }
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: 5_000,
        keepAlive: true,
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        await client.query('SELECT pg_advisory_lock($1)', [ownerLock]);
        this.lock = client;
        return;
      } catch {
        await client.end().catch(() => undefined);
        await delay(50);
      }
    }
    throw new Error(`PostgreSQL did not become ready in ${this.dataDir}; see ${log}`);
  }
}

async function stopServer(pid: number): Promise<void> {
  const alive = (): boolean => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  if (!alive()) return;
  process.kill(pid, 'SIGINT');
  for (let tries = 0; tries < 600 && alive(); tries++) await delay(50);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}
