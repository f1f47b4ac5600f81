import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { settingsOfRole } from '../../src/database/sessions.js';
import { Callers } from '../load/callers.js';
import type { Random } from '../random.js';
import { DatabasePath } from './database-path.js';
import { Disk } from './disk.js';
import { modelsFile } from './models-file.js';
import { PgBouncer } from './pgbouncer.js';
import { Postgres } from './postgres.js';
import { ProxyThread } from './proxy-thread.js';
import { nodeSettings, type Role, ServiceNode } from './service-node.js';

/** The part of a cluster that callers and checks use. */
export interface Service {
  readonly apiNodes: ServiceNode[];
  readonly callers: Callers;
  readonly postgres: Pick<Postgres, 'query'>;
}

/** PostgreSQL, one proxy for each node, and the nodes. `stop` ends and removes all of it. */
export class Cluster implements Service {
  /** The repository, seen from `dist/chaos/cluster`. */
  readonly root = fileURLToPath(new URL('../../..', import.meta.url));
  readonly directory = mkdtempSync(join(tmpdir(), `nowserving-chaos-${process.pid}-`));
  /** The data directory that all nodes share, like a shared volume. */
  readonly dataDirectory = join(this.directory, 'data');
  readonly postgres = new Postgres(this.directory);
  readonly disk = new Disk(this.postgres);
  readonly nodes: ServiceNode[] = [];
  readonly paths: DatabasePath[] = [];
  readonly callers = new Callers();
  private bouncer: PgBouncer | undefined;
  private readonly proxies = new ProxyThread();

  constructor(
    private readonly processes: number,
    private readonly pgbouncer: boolean,
    private readonly random: Random,
  ) {}

  get apiNodes(): ServiceNode[] {
    return this.nodes.filter(({ servesCalls }) => servesCalls);
  }

  async start(modelUrl: string): Promise<void> {
    process.once('exit', this.abandon);
    writeFileSync(join(this.directory, 'models.yaml'), modelsFile(modelUrl));
    await this.postgres.start();
    if (this.pgbouncer) await this.startPgBouncer();
    for (const [index, role] of this.roles().entries()) {
      const path = await DatabasePath.open(this.proxies, this.postgres, this.bouncer);
      this.paths.push(path);
      this.nodes.push(
        new ServiceNode({
          name: `node-${index + 1}`,
          role,
          root: this.root,
          directory: this.directory,
          environment: {
            ...path.environment,
            ...this.callers.environment,
            DATA_DIR: this.dataDirectory,
            MODELS_FILE: join(this.directory, 'models.yaml'),
            ...nodeSettings,
          },
        }),
      );
    }
    await Promise.all(this.nodes.map((node) => node.start()));
    await this.callers.store(this.postgres);
    await this.disk.prepare();
  }

  pathOf(node: ServiceNode): DatabasePath {
    return this.paths[this.nodes.indexOf(node)]!;
  }

  async stop(keepDirectory: boolean): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
    this.bouncer?.abandon();
    await this.proxies.stop();
    await this.postgres.stop();
    process.off('exit', this.abandon);
    if (!keepDirectory) rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Called when the harness itself breaks, so that nothing that it started outlives it. */
  private readonly abandon = (): void => {
    for (const node of this.nodes) node.abandon();
    this.bouncer?.abandon();
    this.postgres.abandon();
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

  /** The first two nodes have the role `all`; the roles of the others are drawn. */
  private roles(): Role[] {
    return Array.from({ length: this.processes }, (_, index) =>
      index < 2 ? 'all' : this.random.pick<Role>(['all', 'api', 'scheduler']),
    );
  }
}
