import { ModelServer } from './model-server.js';
import { QueueCalls } from './queue-calls.js';
import { startTestService, type TestService, type TestServiceOptions } from './test-service.js';

interface TestQueueOptions extends Omit<TestServiceOptions, 'models'> {
  /** Models with their settings. Default: the shipped demos. */
  models?: Record<string, object>;
  /** The groups that the models name. */
  groups?: Record<string, object>;
}

/** One service for all tests of a file, and the model server that runs its models. */
export function testQueue({ models, groups, ...options }: TestQueueOptions = {}): {
  service: TestService;
  calls: QueueCalls;
  model: ModelServer;
} {
  const service = {} as TestService;
  const model = new ModelServer();
  beforeAll(async () => {
    await model.start();
    const file = models && { models: model.file(models, groups) };
    Object.assign(service, await startTestService({ ...options, ...file }));
  });
  afterAll(async () => {
    model.release();
    await service.stop();
    await model.stop();
  });
  return { service, calls: new QueueCalls(service), model };
}
