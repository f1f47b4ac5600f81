import { startTestService, type TestService } from '../support/index.js';
import { until } from '../support/until.js';

let api: TestService;
let scheduler: TestService;

beforeAll(async () => {
  api = await startTestService({ config: { role: 'api' } });
  scheduler = await startTestService({
    config: { role: 'scheduler', databaseUrl: api.databaseUrl, bootstrapApiKey: api.key },
  });
});

afterAll(async () => {
  await scheduler.stop();
  await api.stop();
});

test('a request that an api process takes in is run by a scheduler process', async () => {
  const submitted = await api.submit('demo/text/echo', { prompt: 'hello' });
  const { response_url } = (await submitted.json()) as { response_url: string };
  const response = await until(async () => {
    const answer = await api.get(response_url);
    return answer.status === 200 && answer;
  });
  expect(await response.json()).toEqual({ prompt: 'hello' });
});

test('a scheduler process shows its health and serves nothing else', async () => {
  expect((await scheduler.get('/health/ready')).status).toBe(200);
  expect((await scheduler.submit('demo/text/echo', {})).status).toBe(404);
});
