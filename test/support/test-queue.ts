import { ModelServer } from './model-server.js';
import { QueueCalls } from './queue-calls.js';
import { startTestService, type TestService, type TestServiceOptions } from './test-service.js';

interface TestQueueOptions extends Omit<TestServiceOptions, 'models'> {
  /** With their settings; the shipped demos if left out. */
  models?: Record<string, object>;
}

/** A service for all tests of a file, and the model server that runs the requests of its models. */
export function testQueue({ models, ...options }: TestQueueOptions = {}): {
  service: TestService;
  calls: QueueCalls;
  model: ModelServer;
} {
  const service = {} as TestService;
  const model = new ModelServer();
  beforeAll(async () => {
    await model.start();
    const file = models && { models: model.file(models) };
    Object.assign(service, await startTestService({ ...options, ...file }));
  });
  afterAll(async () => {
    model.release();
    await service.stop();
    await model.stop();
  });
  return { service, calls: new QueueCalls(service), model };
}
