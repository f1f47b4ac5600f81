import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';
import { inParallel } from '../support/in-parallel.js';
import { ModelServer } from '../support/model-server.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

const model = new ModelServer();
let database: TestDatabase;
let nodes: QueueCalls[];

beforeAll(async () => {
  await model.start();
  database = await createTestDatabase();
  const start = async (): Promise<QueueCalls> =>
    new QueueCalls(
      await startTestService({
        limits: 'off',
        models: model.file({ 'test/shared': { concurrency: 6 } }),
        config: { databaseUrl: database.url, bootstrapApiKey: 'a-key-that-all-nodes-know', role: 'all' },
      }),
    );
  nodes = [await start(), await start(), await start()];
});
afterAll(async () => {
  model.release();
  await Promise.all(nodes.map(({ service }) => service.stop()));
  await model.stop();
  await database.drop();
});

/** 1 if all have the same count, 1 ÷ n if one has all. */
function jainsIndex(counts: readonly number[]): number {
  const sum = counts.reduce((a, b) => a + b, 0);
  return sum ** 2 / (counts.length * counts.reduce((total, count) => total + count ** 2, 0));
}

test('over three nodes, keys that always have waiting requests get equal shares, regardless of how many they submitted', async () => {
  const keys = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => keyHeader(await nodes[0]!.newKey({ name: `key ${i}` }))),
  );
  const keyOf = new Map<string, number>();
  const submitFor = (key: number, count: number): Promise<unknown> =>
    inParallel(4, Array.from({ length: count }), async (_, i) => {
      const node = nodes[(i * 7 + key) % nodes.length]!;
      keyOf.set(await node.submit('test/shared', {}, keys[key]), key);
    });
  model.hold();
  await submitFor(0, 300);
  await Promise.all(keys.map((_, key) => submitFor(key, 60)));
  model.takesMs = 1;
  model.release();
  await until(() => model.calls.length === 900);

  const starts = model.calls.map(({ id }) => keyOf.get(id)!);
  // The held requests came before any of the others.
  const shared = starts.slice(6, 506);
  const counts = keys.map((_, key) => shared.filter((one) => one === key).length);
  expect({ counts, index: jainsIndex(counts) }).toEqual({ counts, index: expect.any(Number) });
  expect(jainsIndex(counts)).toBeGreaterThanOrEqual(0.95);
});
