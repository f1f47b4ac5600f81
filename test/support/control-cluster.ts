import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ModelAdminCalls } from './model-admin-calls.js';
import { createTestDatabase, spawnService, type SpawnedService, type TestDatabase } from './index.js';
import { ModelServer } from './model-server.js';

const key = 'test_control_key_0123456789';

/** A process of the service, and the calls to it. */
export class ControlledNode {
  readonly admin: ModelAdminCalls;

  constructor(readonly service: SpawnedService) {
    this.admin = new ModelAdminCalls({ url: service.url, key });
  }

  /** Returns the id, or the status of the refusal. */
  async submit(model: string): Promise<string | number> {
    const headers = { authorization: `Key ${key}` };
    const response = await fetch(`${this.service.url}/v1/queue/${model}`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    const { request_id: id } = (await response.json()) as { request_id: string };
    return response.status === 202 ? id : response.status;
  }

  async availability(model: string): Promise<string> {
    const headers = { authorization: `Key ${key}` };
    const response = await fetch(`${this.service.url}/v1/models/${model}`, { headers });
    return ((await response.json()) as { availability: string }).availability;
  }
}

/** Processes that share one database and one models file, and a model server. */
export class ControlCluster {
  readonly model = new ModelServer();
  readonly nodes: ControlledNode[] = [];
  private database!: TestDatabase;
  private sql!: pg.Client;
  private directory = '';

  get modelsFile(): string {
    return join(this.directory, 'models.yaml');
  }

  async start(models: Record<string, object>, count: number, groups?: Record<string, object>): Promise<this> {
    await this.model.start();
    this.database = await createTestDatabase();
    this.sql = new pg.Client({ connectionString: this.database.url });
    await this.sql.connect();
    this.directory = await mkdtemp(join(tmpdir(), 'nowserving-control-'));
    await this.write(models, groups);
    while (this.nodes.length < count) await this.add();
    return this;
  }

  write(models: Record<string, object>, groups?: Record<string, object>): Promise<void> {
    return writeFile(this.modelsFile, this.model.file(models, groups));
  }

  async add(environment: Record<string, string> = {}): Promise<ControlledNode> {
    const service = await spawnService({
      DATABASE_URL: this.database.url,
      MODELS_FILE: this.modelsFile,
      BOOTSTRAP_API_KEY: key,
      RATE_LIMIT_SUBMIT: 'off',
      RATE_LIMIT_OTHER: 'off',
      NODE_NAME: `node-${this.nodes.length}`,
      LOG_LEVEL: 'info',
      ...environment,
    });
    const node = new ControlledNode(service);
    this.nodes.push(node);
    return node;
  }

  remove(node: ControlledNode): void {
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }

  async rows<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.sql.query<Row>(text, values)).rows;
  }

  async stop(): Promise<void> {
    this.model.release();
    for (const { service } of this.nodes) service.kill('SIGTERM');
    for (const { service } of this.nodes) await service.exited;
    await this.sql.end();
    await this.database.drop();
    await this.model.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
