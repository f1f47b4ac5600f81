import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { serverEnvironment } from '../../src/embedded-postgres/server-program.js';
import { within } from '../clock.js';
import { childrenOf, isAlive, sendSignal } from './processes.js';
import { portCell } from './proxy-thread.js';
import { queryOnce } from './query-once.js';
import type { SteppedClock } from './stepped-clock.js';

/** A PostgreSQL of the harness, durable as in production, that can be killed and started again. */
export class Postgres {
  private server: EmbeddedPostgres;
  private adminUrl = '';
  /** The server listens on another port after every start. */
  readonly portCell = portCell();
  /** False after a kill, because its pid may then belong to another process. */
  private running = false;

  /** `clock`: undefined: it has the machine's clock. */
  constructor(
    private readonly directory: string,
    private readonly clock?: SteppedClock,
  ) {
    this.server = this.make();
  }

  get password(): string {
    return new URL(this.adminUrl).password;
  }

  /** The server as seen through a proxy on `port`. */
  urlVia(port: number): string {
    const url = new URL(this.adminUrl);
    url.port = String(port);
    return url.href;
  }

  async start(): Promise<void> {
    this.server = this.make();
    this.adminUrl = await this.server.start();
    Atomics.store(this.portCell, 0, Number(new URL(this.adminUrl).port));
    this.running = true;
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.server.stop();
  }

  /** Sends SIGKILL to the server and every process that it started. */
  async kill(): Promise<void> {
    const postmaster = this.pid();
    const processes = [postmaster, ...childrenOf(postmaster)];
    this.running = false;
    for (const pid of processes) sendSignal(pid, 'SIGKILL');
    // Otherwise it would restart the server by itself at any time.
    await this.server.stop().catch(() => undefined);
    await within(10_000, () => !processes.some(isAlive));
  }

  /** Starts an immediate shutdown without waiting for it. */
  abandon(): void {
    if (this.running) sendSignal(this.pid(), 'SIGQUIT');
  }

  /** Runs a query directly, without a proxy. */
  query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return queryOnce(this.adminUrl, text, values);
  }

  private make(): EmbeddedPostgres {
    const environment = this.clock && { ...serverEnvironment, ...this.clock.environment(false) };
    return new EmbeddedPostgres(this.directory, environment);
  }

  private pid(): number {
    return Number(readFileSync(join(this.directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }
}
