import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingsOfRole } from '../../src/database/sessions.js';
import { Callers } from '../load/callers.js';
import type { Random } from '../random.js';
import { DatabasePath } from './database-path.js';
import { Disk } from './disk.js';
import { Front } from './front.js';
import { modelsFile } from './models-file.js';
import { PgBouncer } from './pgbouncer.js';
import { Postgres } from './postgres.js';
import { ProxyThread } from './proxy-thread.js';
import { nodeSettings, type Role, ServiceNode } from './service-node.js';
import { SteppedClock } from './stepped-clock.js';
import { Volume } from './volume.js';

/** The part of a cluster that callers and checks use. */
export interface Service {
  readonly apiNodes: ServiceNode[];
  readonly callers: Callers;
  readonly postgres: Pick<Postgres, 'query'>;
  /** undefined: the database has the machine's clock. */
  readonly databaseClock?: SteppedClock | undefined;
}

/** What the cluster of a run has besides that of every run. */
export interface Conditions {
  /** Settings of all nodes. */
  settings?: Readonly<Record<string, string>>;
  /** Database and files are on a volume of this size, which can be filled. */
  volumeMegabytes?: number;
  /** The clocks of the database and of each node can be stepped. The database's begins that far ahead. */
  databaseAheadMs?: number;
  /** Callers and workers reach the nodes through HAProxy. */
  hasFront?: boolean;
}

/** PostgreSQL, one proxy for each node, and the nodes. `stop` ends and removes all of it. */
export class Cluster implements Service {
  /** The repository, seen from `dist/chaos/cluster`. */
  readonly root = fileURLToPath(new URL('../../..', import.meta.url));
  readonly directory = mkdtempSync(join(tmpdir(), `nowserving-chaos-${process.pid}-`));
  /** undefined: database and files are on the machine's volume. */
  readonly volume: Volume | undefined;
  /** The data directory that all nodes share, like a shared volume. */
  readonly dataDirectory: string;
  readonly databaseClock: SteppedClock | undefined;
  readonly postgres: Postgres;
  readonly disk: Disk;
  readonly nodes: ServiceNode[] = [];
  readonly paths: DatabasePath[] = [];
  readonly callers = new Callers();
  private readonly clocks = new Map<ServiceNode, SteppedClock>();
  private bouncer: PgBouncer | undefined;
  private front: Front | undefined;
  private readonly proxies = new ProxyThread();

  constructor(
    private readonly processes: number,
    private readonly pgbouncer: boolean,
    private readonly random: Random,
    private readonly conditions: Conditions = {},
  ) {
    const { volumeMegabytes, databaseAheadMs } = conditions;
    // The database's user has to enter it.
    chmodSync(this.directory, 0o711);
    if (volumeMegabytes !== undefined)
      this.volume = new Volume(join(this.directory, 'volume'), volumeMegabytes);
    if (databaseAheadMs !== undefined)
      this.databaseClock = new SteppedClock(join(this.directory, 'clock-of-database'), databaseAheadMs);
    const place = this.volume?.path ?? this.directory;
    this.dataDirectory = join(place, 'data');
    this.postgres = new Postgres(place, this.databaseClock);
    this.disk = new Disk(this.postgres);
  }

  /** The nodes that serve calls, or the proxy in front of them. */
  get apiNodes(): ServiceNode[] {
    if (this.front !== undefined) return [this.front.node];
    return this.nodes.filter(({ servesCalls }) => servesCalls);
  }

  async start(modelUrl: string): Promise<void> {
    process.once('exit', this.abandon);
    writeFileSync(join(this.directory, 'models.yaml'), modelsFile(modelUrl));
    await this.postgres.start();
    if (this.volume !== undefined) await this.keepLogShort();
    if (this.pgbouncer) await this.startPgBouncer();
    for (const [index, role] of this.roles().entries()) {
      const path = await DatabasePath.open(this.proxies, this.postgres, this.bouncer);
      this.paths.push(path);
      const name = `node-${index + 1}`;
      const clock = this.databaseClock && new SteppedClock(join(this.directory, `clock-of-${name}`));
      const node = new ServiceNode({
        name,
        role,
        root: this.root,
        directory: this.directory,
        environment: {
          ...path.environment,
          ...this.callers.environment,
          DATA_DIR: this.dataDirectory,
          MODELS_FILE: join(this.directory, 'models.yaml'),
          ...nodeSettings,
          ...this.conditions.settings,
          ...clock?.environment(true),
        },
      });
      this.nodes.push(node);
      if (clock !== undefined) this.clocks.set(node, clock);
    }
    await Promise.all(this.nodes.map((node) => node.start()));
    if (this.conditions.hasFront) this.front = await Front.start(this.root, this.directory, this.apiNodes);
    await this.callers.store(this.postgres);
    await this.disk.prepare();
  }

  pathOf(node: ServiceNode): DatabasePath {
    return this.paths[this.nodes.indexOf(node)]!;
  }

  /** undefined: the node has the machine's clock. */
  clockOf(node: ServiceNode): SteppedClock | undefined {
    return this.clocks.get(node);
  }

  async stop(keepDirectory: boolean): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    this.front?.abandon();
    this.bouncer?.abandon();
    await this.proxies.stop();
    await this.postgres.stop();
    process.off('exit', this.abandon);
    this.volume?.unmount();
    if (!keepDirectory) rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Called when the harness itself breaks, so that nothing that it started outlives it. */
  private readonly abandon = (): void => {
    for (const node of this.nodes) node.abandon();
    this.front?.abandon();
    this.bouncer?.abandon();
    this.postgres.abandon();
    this.volume?.unmount();
  };

  /**
   * PgBouncer's settings name one port, but the server has another after every start, so a proxy stands between them.
   */
  private async startPgBouncer(): Promise<void> {
    const { port } = await this.proxies.open(this.postgres.portCell);
    for (const [name, value] of Object.entries(settingsOfRole))
      await this.postgres.query(`ALTER ROLE postgres SET ${name} = '${value}'`);
    this.bouncer = await PgBouncer.start(this.directory, port, this.postgres.password);
  }

  /** By default the write-ahead log alone may grow to a gigabyte. */
  private async keepLogShort(): Promise<void> {
    for (const setting of [`min_wal_size = '64MB'`, `max_wal_size = '256MB'`])
      await this.postgres.query(`ALTER SYSTEM SET ${setting}`);
    await this.postgres.query('SELECT pg_reload_conf()');
  }

  /** The first two nodes have the role `all`; the roles of the others are drawn. */
  private roles(): Role[] {
    return Array.from({ length: this.processes }, (_, index) =>
      index < 2 ? 'all' : this.random.pick<Role>(['all', 'api', 'scheduler']),
    );
  }
}
