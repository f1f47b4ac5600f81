import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { within } from '../../chaos/clock.js';
import { childrenOf, isAlive, sendSignal } from '../../chaos/cluster/processes.js';
import { portCell, type ProxyThread, type RemoteProxy } from '../../chaos/cluster/proxy-thread.js';
import { Daemon } from './daemon.js';
import { nodeSettings, type NodeOptions } from './patroni-settings.js';

/** The ways to a node, and from it to etcd. A node that is cut off has none. */
interface Ways {
  clients: RemoteProxy;
  replication: RemoteProxy;
  rest: RemoteProxy;
  etcd: RemoteProxy[];
}

/** A PostgreSQL under Patroni, as on a machine of its own. */
export class PostgresNode {
  readonly name: string;
  readonly patroni: Daemon;
  readonly configFile: string;
  private readonly dataDirectory: string;
  private frozen: number[] = [];

  private constructor(
    private readonly options: NodeOptions,
    readonly ways: Ways,
  ) {
    const { name, programs, user } = options;
    const directory = join(options.directory, name);
    mkdirSync(directory);
    this.name = name;
    this.dataDirectory = join(directory, 'data');
    this.configFile = join(directory, 'patroni.yml');
    const settings = nodeSettings(options, directory, this.dataDirectory, {
      postgres: ways.replication.port,
      rest: ways.rest.port,
      etcd: ways.etcd.map(({ port }) => port),
    });
    // JSON is YAML.
    writeFileSync(this.configFile, JSON.stringify(settings, undefined, 2), { mode: 0o600 });
    if (user.uid !== undefined)
      for (const path of [directory, this.configFile]) chownSync(path, user.uid, user.gid!);
    this.patroni = new Daemon({ name, program: programs.patroni, args: [this.configFile], directory, user });
  }

  static async open(thread: ProxyThread, options: NodeOptions): Promise<PostgresNode> {
    const { ports, etcdPorts } = options;
    const way = (port: number): Promise<RemoteProxy> => thread.open(portCell(port));
    return new PostgresNode(options, {
      clients: await way(ports.postgres),
      replication: await way(ports.postgres),
      rest: await way(ports.rest),
      etcd: await Promise.all(etcdPorts.map(way)),
    });
  }

  /** For the drill itself, past every proxy. */
  get directUrl(): string {
    const { password, ports } = this.options;
    return `postgresql://postgres:${password}@127.0.0.1:${ports.postgres}/postgres`;
  }

  get directRestUrl(): string {
    return `http://127.0.0.1:${this.options.ports.rest}`;
  }

  start(): void {
    this.patroni.start();
  }

  /** Sends SIGKILL to Patroni, which would start PostgreSQL again, and then to every process of PostgreSQL. */
  async kill(): Promise<void> {
    await this.patroni.kill();
    const processes = this.postgresProcesses();
    for (const pid of processes) sendSignal(pid, 'SIGKILL');
    await within(10_000, () => !processes.some(isAlive));
    this.frozen = [];
  }

  /** Stops every process of the node, like a virtual machine that is paused. */
  freeze(): void {
    this.patroni.signal('SIGSTOP');
    this.frozen = this.postgresProcesses();
    for (const pid of this.frozen) sendSignal(pid, 'SIGSTOP');
  }

  thaw(): void {
    for (const pid of this.frozen) sendSignal(pid, 'SIGCONT');
    this.frozen = [];
    this.patroni.signal('SIGCONT');
  }

  /** Nothing passes to the node and from it to etcd, and nobody is told. */
  async cutOff(): Promise<void> {
    await this.all((way) => way.make('hang'));
  }

  /** What was on its way is lost, as after a time-out of TCP. */
  async reconnect(): Promise<void> {
    await this.all((way) => way.make('reset'));
    await this.all((way) => way.make('heal'));
  }

  /** Called when the drill itself breaks. Does not wait. */
  abandon(): void {
    this.patroni.signal('SIGKILL');
    for (const pid of this.postgresProcesses()) sendSignal(pid, 'SIGKILL');
  }

  private async all(deed: (way: RemoteProxy) => Promise<void>): Promise<void> {
    const { clients, replication, rest, etcd } = this.ways;
    await Promise.all([clients, replication, rest, ...etcd].map(deed));
  }

  /** The server and its children; empty: it does not run. */
  private postgresProcesses(): number[] {
    try {
      const file = readFileSync(join(this.dataDirectory, 'postmaster.pid'), 'utf8');
      const pid = Number(file.split('\n')[0]);
      // After a kill the file stays, and its number may by now be that of another process.
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return command.includes(this.dataDirectory) ? [pid, ...childrenOf(pid)] : [];
    } catch {
      return [];
    }
  }
}
