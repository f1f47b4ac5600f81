import { scrape } from '../support/metrics.js';
import { promtool } from '../support/promtool.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/model': {} } });

test('promtool accepts the output of /metrics', async () => {
  await calls.run('test/model');
  await service.submit('test/unknown', {});
  const { text } = await scrape(service);
  expect(promtool(['check', 'metrics'], text)).toBe('');
});

test('promtool accepts the alert rules, and their tests pass', () => {
  expect(promtool(['check', 'rules', 'deploy/alerts.yaml'])).toContain('SUCCESS');
  expect(promtool(['test', 'rules', 'deploy/alerts.test.yaml'])).toContain('SUCCESS');
});
