import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { DataDirectory, type ServerUser, type StartOptions } from './data-directory.js';
import { freeCluster, isAlive, OwnerLock, type Refusal, stopServer } from './ownership.js';
import {
  assertReachable,
  findBinaries,
  findUser,
  initialiseCluster,
  type PostgresBinaries,
  refuseOtherVersion,
  serverEnvironment,
} from './server-program.js';
import { serverSettings } from './server-settings.js';

const retryMs = 50;
/** Pause between the end of a server and the start of the next. */
const restartMs = 1_000;

/** Another process owns the server of the data directory. */
export class ServerInUse extends Error {}

/**
 * A real PostgreSQL from npm, in the service's data directory. It is stopped by `stop()` and by a clean exit of the
 * process.
 */
export class EmbeddedPostgres {
  /** Time limit of a start, besides the recovery after a crash. */
  patienceMs = 60_000;
  private readonly directory: DataDirectory;
  private lock: OwnerLock | undefined;
  private pid: number | undefined;
  /** Aborted by a stop. Each start has its own. */
  private stopping = new AbortController();
  private readonly log = new Logger(EmbeddedPostgres.name);

  /** `environment`: variables of the server, which gets no others. */
  constructor(
    dataDir: string,
    private readonly environment: Readonly<Record<string, string>> = serverEnvironment,
  ) {
    this.directory = new DataDirectory(dataDir);
  }

  /** Starts the server and returns its URL. The first start initialises the directory. */
  async start(options: StartOptions = {}): Promise<string> {
    this.stopping = new AbortController();
    const binaries = await findBinaries();
    const user = this.directory.userOf(await findUser());
    this.directory.prepare(user);
    assertReachable([binaries.postgres, this.directory.clusterDir], user);
    return this.directory.withStartLock(() => this.startAlone(binaries, user, options), options);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.lock?.release();
    this.lock = undefined;
    if (this.pid !== undefined) await stopServer(this.pid);
    this.pid = undefined;
    process.off('exit', this.stopAtExit);
  }

  private async startAlone(
    binaries: PostgresBinaries,
    user: ServerUser,
    options: StartOptions,
  ): Promise<string> {
    const { name, clusterDir, urlFile } = this.directory;
    const { signal } = options;
    const hasCluster = existsSync(join(clusterDir, 'PG_VERSION'));
    if (!hasCluster) this.directory.createPassword();
    if (!(await freeCluster(clusterDir, (port) => this.url(port), this.patience(options), signal))) {
      throw new ServerInUse(
        `Another service is running on the data directory ${name}. ` +
          'Stop it, set DATA_DIR to another directory, or set DATABASE_URL for both to share one PostgreSQL.',
      );
    }
    if (hasCluster) {
      await refuseOtherVersion(this.directory, binaries.postgres);
    } else {
      await initialiseCluster(this.directory, binaries.initdb, user, signal);
    }
    const port = await freePort();
    const url = this.url(port);
    const child = this.spawnServer(binaries.postgres, port, user);
    this.pid = child.pid;
    process.once('exit', this.stopAtExit);
    await this.untilReady(url, child, options);
    void this.keepRunning(child, () => this.spawnServer(binaries.postgres, port, user));
    writeFileSync(urlFile, `${url}\n`, { mode: 0o600 });
    return url;
  }

  /**
   * Restarts a server that ends by itself, for example without room for its write-ahead log. It gets the same port,
   * where all connections expect it.
   */
  private async keepRunning(first: ChildProcess, spawnNext: () => ChildProcess): Promise<void> {
    const { signal } = this.stopping;
    for (let child = first; ; child = spawnNext()) {
      this.pid = child.pid;
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        await new Promise((ended) => child.once('exit', ended));
      if (signal.aborted) return;
      const how = child.signalCode ?? `exit code ${child.exitCode}`;
      this.log.error(`PostgreSQL ended (${how}) and is started again; see ${this.directory.log}`);
      await delay(restartMs, undefined, { ref: false });
      if (signal.aborted) return;
    }
  }

  private spawnServer(binary: string, port: string, user: ServerUser): ChildProcess {
    const log = openSync(this.directory.log, 'a', 0o600);
    const settings = Object.entries(serverSettings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(binary, ['-D', this.directory.clusterDir, '-p', port, ...settings], {
      ...user,
      // The server gets its own session, so that Ctrl-C in the terminal does not stop it before the service has
      // drained.
      detached: true,
      stdio: ['ignore', log, log],
      env: this.environment,
    });
    closeSync(log);
    child.on('error', () => undefined); // noticed as a server that did not start
    child.unref();
    return child;
  }

  /** The server is ready when this process gets the lock that shows other services who owns the server. */
  private async untilReady(url: string, child: ChildProcess, options: StartOptions): Promise<void> {
    const { name, log } = this.directory;
    const { signal } = options;
    const isOver = this.patience(options);
    this.lock = new OwnerLock((work, released) => this.directory.withStartLock(work, { signal: released }));
    for (;;) {
      const answer = await this.lock.take(url);
      if (answer === 'taken') return;
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) {
        this.pid = undefined;
        const said = readFileSync(log, 'utf8').trim().split('\n').slice(-2).join(' ');
        throw new Error(`PostgreSQL did not start in ${name}: ${said}`);
      }
      if (isOver(answer)) {
        await this.stop();
        throw new Error(`PostgreSQL did not become ready in ${name}; see ${log}`);
      }
      if (signal?.aborted) await this.stop();
      await delay(retryMs, undefined, { signal });
    }
  }

  /** Returns a function that says when a start gives up: never while a server recovers, which is reported once. */
  private patience({ report }: StartOptions): (refusal: Refusal) => boolean {
    const { name, log } = this.directory;
    const beganAt = performance.now();
    let startingAt = beganAt;
    let isReported = false;
    return (refusal) => {
      const now = performance.now();
      if (refusal !== 'starting') return now - startingAt >= this.patienceMs;
      // A server that replays its log may leave single connections without an answer.
      startingAt = now;
      if (!isReported && now - beganAt >= this.patienceMs) {
        report?.(`Waiting for PostgreSQL in ${name}, which recovers from a crash; see ${log}.`);
        isReported = true;
      }
      return false;
    };
  }

  /** A process that exits at once cannot wait. The server then shuts down by itself. */
  private readonly stopAtExit = (): void => {
    if (this.pid !== undefined && isAlive(this.pid)) process.kill(this.pid, 'SIGINT');
  };

  private url(port: string): string {
    const password = readFileSync(this.directory.passwordFile, 'utf8').trim();
    return `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
  }
}

async function freePort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((done, fail) => server.once('error', fail).listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return String(port);
}
