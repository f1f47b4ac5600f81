import type { Config } from '../../src/config/config.js';
import { Heartbeat } from '../../src/queue/cluster/duties/heartbeat.js';
import { SlotKeeper } from '../../src/queue/cluster/duties/slot-keeper.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { ModelServer } from './model-server.js';
import { QueueCalls } from './queue-calls.js';
import { startTestService, type TestService } from './test-service.js';

/** Nodes on a separate database for each test, with one key and one model server for all. They stop after the test. */
export function testNodes(models: Record<string, object>, groups?: Record<string, object>) {
  const model = new ModelServer();
  const started: TestService[] = [];
  let database: TestDatabase;
  beforeAll(() => model.start());
  afterAll(() => model.stop());
  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    while (started.length > 0) await started.shift()!.stop();
    await database.drop();
  });
  async function start(config: Partial<Config> = {}): Promise<QueueCalls> {
    const service = await startTestService({
      models: model.file(models, groups),
      config: { databaseUrl: database.url, bootstrapApiKey: 'test_nodes_key_0123456789', ...config },
    });
    started.push(service);
    return new QueueCalls(service);
  }
  return { model, start, databaseUrl: () => database.url };
}

/** Lets nodes learn of each other and divide the slots now, instead of in their next rounds. */
export async function divideSlots(nodes: readonly QueueCalls[]): Promise<void> {
  for (const duty of [Heartbeat, SlotKeeper, SlotKeeper])
    for (const { service } of nodes) await service.app.get<Heartbeat | SlotKeeper>(duty).runOnce();
}
