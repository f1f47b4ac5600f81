import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { within } from '../../chaos/clock.js';
import { accepts, PgBouncer } from '../../chaos/cluster/pgbouncer.js';
import { ProxyThread } from '../../chaos/cluster/proxy-thread.js';
import { queryOnce } from '../../chaos/cluster/query-once.js';
import { settingsOfRole } from '../../src/database/sessions.js';
import { findUser } from '../../src/embedded-postgres/server-program.js';
import type { Daemon } from './daemon.js';
import { etcdMembers, type EtcdPorts, hasVersion } from './etcd.js';
import { haproxyOf } from './haproxy.js';
import type { Replication } from './patroni-settings.js';
import { fixedPorts } from './ports.js';
import { PostgresNode } from './postgres-node.js';
import type { Programs } from './programs.js';

const run = promisify(execFile);

const size = 3;
const startPatienceMs = 120_000;
/** Patroni notes the places of nodes every two seconds, so under load they never look equal. */
const smallLagBytes = 4 * 1024 ** 2;
const timeouts = { connectionTimeoutMillis: 3_000, query_timeout: 10_000 };

/** A node as Patroni sees it. */
interface Member {
  name: string;
  role: 'leader' | 'sync_standby' | 'replica';
  state: string;
  timeline?: number;
  lag?: number | string;
}

/** Three PostgreSQL under Patroni, three etcd, and HAProxy in front, all on this machine. */
export class Topology {
  readonly directory = mkdtempSync(join(tmpdir(), `nowserving-drill-${process.pid}-`));
  readonly nodes: PostgresNode[] = [];
  etcd: Daemon[] = [];
  private haproxyDaemon: Daemon | undefined;
  private haproxyPort = 0;
  private bouncer: PgBouncer | undefined;
  private readonly proxies = new ProxyThread();
  private readonly password = randomBytes(18).toString('hex');

  constructor(
    private readonly programs: Programs,
    readonly replication: Replication,
    private readonly pgbouncer: boolean,
  ) {}

  get haproxy(): Daemon {
    return this.haproxyDaemon!;
  }

  /** How the services reach the database. */
  get environment(): Record<string, string> {
    if (this.bouncer === undefined) return { DATABASE_URL: this.urlAt(this.haproxyPort) };
    return {
      DATABASE_URL: this.urlAt(this.bouncer.port),
      DATABASE_DIRECT_URL: this.urlAt(this.haproxyPort),
      DATABASE_PREPARED_STATEMENTS: 'off',
    };
  }

  /** Runs a query on the primary, through HAProxy. */
  query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return queryOnce(this.urlAt(this.haproxyPort), text, values, timeouts);
  }

  async start(): Promise<void> {
    process.once('exit', this.abandon);
    const { programs, directory, password, replication } = this;
    chmodSync(directory, 0o711);
    const user = await findUser();
    const ports = await fixedPorts(4 * size + 1);
    const next = (): number => ports.shift()!;
    const etcdPorts = Array.from({ length: size }, () => ({ client: next(), peer: next() }));
    this.etcd = etcdMembers(programs.etcd, directory, etcdPorts);
    for (const member of this.etcd) member.start();
    // Patroni ends at its start if etcd does not know its version yet.
    const isDecided = ({ client }: EtcdPorts): Promise<boolean> => hasVersion(client);
    await within(startPatienceMs, async () => (await Promise.all(etcdPorts.map(isDecided))).every(Boolean));
    for (let i = 1; i <= size; i++) {
      const node = await PostgresNode.open(this.proxies, {
        name: `pg-${i}`,
        directory,
        programs,
        user,
        password,
        replication,
        ports: { postgres: next(), rest: next() },
        etcdPorts: etcdPorts.map(({ client }) => client),
      });
      this.nodes.push(node);
      node.start();
    }
    this.haproxyPort = next();
    const servers = this.nodes.map(({ name, ways }) => ({
      name,
      postgres: ways.clients.port,
      rest: ways.rest.port,
    }));
    this.haproxyDaemon = haproxyOf(programs.haproxy, directory, this.haproxyPort, servers);
    this.haproxy.start();
    await this.untilWhole(startPatienceMs);
    if (this.pgbouncer) await this.startPgBouncer();
  }

  /** Waits until every node is there: a primary, and standbys on its timeline that follow it. */
  async untilWhole(patienceMs: number): Promise<void> {
    let members: Member[] = [];
    const isWhole = async (): Promise<boolean> => {
      members = await this.members();
      const [leader] = members.filter(({ role }) => role === 'leader');
      const isSafe =
        this.replication === 'asynchronous' || members.some(({ role }) => role === 'sync_standby');
      const follows = ({ role, state, timeline, lag }: Member): boolean =>
        role === 'leader'
          ? state === 'running'
          : /^(running|streaming)$/.test(state) &&
            timeline === leader?.timeline &&
            typeof lag === 'number' &&
            lag < smallLagBytes;
      return members.length === size && leader !== undefined && isSafe && members.every(follows);
    };
    // HAProxy finds a new primary a moment after Patroni.
    const isReached = (): Promise<boolean> => this.query('SELECT 1').then(Boolean, () => false);
    if ((await within(patienceMs, isWhole)) && (await within(patienceMs, isReached))) return;
    throw new Error(`The cluster is not whole: ${JSON.stringify(members)}\n${this.said}`);
  }

  /** The ends of all logs, for an error. */
  get said(): string {
    const daemons = [...this.nodes.map(({ patroni }) => patroni), ...this.etcd, this.haproxy];
    return daemons.map((daemon) => `${daemon.name}: ${daemon.said}`).join('\n');
  }

  /** Returns the node with this role, as the other nodes know it. */
  async nodeOf(role: Member['role']): Promise<PostgresNode> {
    const name = (await this.members()).find((member) => member.role === role)?.name;
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`There is no ${role}.`);
    return node;
  }

  /** Hands the primary's part over in order, as an operator does. */
  async switchover(): Promise<void> {
    const { configFile } = this.nodes[0]!;
    await run(this.programs.patronictl, ['-c', configFile, 'switchover', 'drill', '--force'], {
      env: { PATH: process.env['PATH'], HOME: this.directory, LC_ALL: 'C.UTF-8' },
      timeout: 60_000,
    });
  }

  /** Resolves when HAProxy listens. */
  async untilProxied(patienceMs: number): Promise<boolean> {
    return within(patienceMs, () => accepts(this.haproxyPort));
  }

  async stop(keepDirectory: boolean): Promise<void> {
    this.bouncer?.abandon();
    await this.haproxyDaemon?.kill();
    await Promise.all(this.nodes.map((node) => node.kill()));
    await Promise.all(this.etcd.map((member) => member.kill()));
    await this.proxies.stop();
    process.off('exit', this.abandon);
    if (!keepDirectory) rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Called when the drill itself breaks, so that nothing that it started outlives it. */
  private readonly abandon = (): void => {
    this.bouncer?.abandon();
    for (const node of this.nodes) node.abandon();
    for (const daemon of [...this.etcd, this.haproxyDaemon]) daemon?.signal('SIGKILL');
  };

  private urlAt(port: number): string {
    return `postgresql://postgres:${this.password}@127.0.0.1:${port}/postgres`;
  }

  /** Asks each node past its proxies, the first that answers counts; empty: none does. */
  private async members(): Promise<Member[]> {
    for (const { directRestUrl } of this.nodes) {
      try {
        const answer = await fetch(`${directRestUrl}/cluster`, { signal: AbortSignal.timeout(2_000) });
        if (answer.ok) return ((await answer.json()) as { members: Member[] }).members;
      } catch {
        // this node is away
      }
    }
    return [];
  }

  private async startPgBouncer(): Promise<void> {
    // Some settings are of newer versions of PostgreSQL than this one.
    const known = await this.query<{ name: string }>('SELECT name FROM pg_settings WHERE name = ANY ($1)', [
      Object.keys(settingsOfRole),
    ]);
    for (const { name } of known)
      await this.query(`ALTER ROLE postgres SET ${name} = '${settingsOfRole[name]!}'`);
    this.bouncer = await PgBouncer.start(this.directory, this.haproxyPort, this.password);
  }
}
