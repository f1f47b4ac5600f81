import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { EmbeddedPostgres } from '../../src/embedded-postgres/embedded-postgres.js';
import { within } from '../clock.js';
import { portCell } from './proxy-thread.js';

/** A PostgreSQL of the harness, durable as in production, that can be killed and started again. */
export class Postgres {
  private server: EmbeddedPostgres;
  private adminUrl = '';
  /** The server listens on another port after every start. */
  readonly portCell = portCell();
  /** False after a kill, because its pid may then belong to another process. */
  private running = false;

  constructor(private readonly directory: string) {
    this.server = new EmbeddedPostgres(directory);
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
    this.server = new EmbeddedPostgres(this.directory);
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
  async query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.adminUrl, application_name: 'chaos' });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private pid(): number {
    return Number(readFileSync(join(this.directory, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);
  }
}

/** Linux only. Elsewhere the server's processes end by themselves soon after the server. */
function childrenOf(parent: number): number[] {
  if (!existsSync('/proc')) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    });
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // the process is gone already
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
