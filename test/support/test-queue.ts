import { ModelServer } from './model-server.js';
import { QueueCalls } from './queue-calls.js';
import { startTestService, type TestService, type TestServiceOptions } from './test-service.js';

/** A service for all tests of a file, and the model that runs the requests of all its models. */
export function testQueue(
  models: Record<string, object>,
  options?: TestServiceOptions,
): { service: TestService; calls: QueueCalls; model: ModelServer } {
  const service = {} as TestService;
  const model = new ModelServer();
  beforeAll(async () => {
    await model.start();
    Object.assign(service, await startTestService({ models: model.file(models), ...options }));
  });
  afterAll(async () => {
    model.release();
    await service.stop();
    await model.stop();
  });
  return { service, calls: new QueueCalls(service), model };
}
