import { scrape } from '../support/metrics.js';
import { promtool } from '../support/promtool.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({ models: { 'test/model': {} } });

test('promtool is content with what /metrics shows', async () => {
  await calls.run('test/model');
  await service.submit('test/unknown', {});
  const { text } = await scrape(service);
  expect(promtool(['check', 'metrics'], text)).toBe('');
});

test('promtool is content with the rules, and with what they say of made-up figures', () => {
  expect(promtool(['check', 'rules', 'deploy/alerts.yaml'])).toContain('SUCCESS');
  expect(promtool(['test', 'rules', 'deploy/alerts.test.yaml'])).toContain('SUCCESS');
});
