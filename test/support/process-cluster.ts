import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnService, type SpawnedService, startTestService, type TestService, until } from './index.js';
import { ModelServer } from './model-server.js';
import { QueueCalls } from './queue-calls.js';
import { readStream, type StreamReader } from './stream-reader.js';

/** One API node in this process, and schedulers as processes that can be killed. */
export class ProcessCluster {
  readonly model = new ModelServer();
  api!: TestService;
  private directory = '';

  /** `settings`: more settings of the model. */
  async start(concurrency: number, settings: object = {}): Promise<this> {
    await this.model.hold().start();
    const models = this.model.file({ 'test/counted': { concurrency, ...settings } });
    this.directory = await mkdtemp(join(tmpdir(), 'nowserving-cluster-'));
    await writeFile(join(this.directory, 'models.yaml'), models);
    this.api = await startTestService({ models, config: { role: 'api' } });
    return this;
  }

  scheduler(environment: Record<string, string> = {}): Promise<SpawnedService> {
    return spawnService({
      ...environment,
      ROLE: 'scheduler',
      DATABASE_URL: this.api.databaseUrl,
      MODELS_FILE: join(this.directory, 'models.yaml'),
      LOG_LEVEL: 'error',
    });
  }

  submit(): Promise<string> {
    return new QueueCalls(this.api).submit('test/counted');
  }

  stream(id: string): Promise<StreamReader> {
    return readStream(`${this.api.url}/v1/queue/requests/${id}/status/stream`);
  }

  async completed(...ids: string[]): Promise<void> {
    const left = `SELECT FROM request WHERE id = ANY ($1) AND state <> 'COMPLETED'`;
    await until(async () => (await this.api.query(left, [ids])).length === 0);
  }

  /** Returns how the request ended, the outcome of each attempt, and its events. */
  async story(id: string): Promise<object> {
    const [row] = await this.api.query<object>(
      `SELECT outcome, error ->> 'code' AS code, output, lost_attempts AS lost,
              ARRAY(SELECT outcome FROM attempt WHERE request_id = request.id ORDER BY attempt) AS attempts,
              ARRAY(SELECT kind FROM request_timeline WHERE request_id = request.id AND kind <> 'submitted'
                    ORDER BY attempt, step, event_id) AS events
       FROM request WHERE id = $1`,
      [id],
    );
    return row!;
  }

  async stop(): Promise<void> {
    this.model.release();
    await this.api.stop();
    await this.model.stop();
    await rm(this.directory, { recursive: true, force: true });
  }
}
