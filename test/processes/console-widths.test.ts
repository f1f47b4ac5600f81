import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { AdminCalls } from '../support/admin-calls.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { testQueue } from '../support/test-queue.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const story = 'acme-research-department/text/long-story-with-pictures';
const { service, calls } = testQueue({
  models: { [story]: { attempts: 1 }, 'test/pulled': pulled },
  limits: 'off',
  config: { nodeName: 'gpu-machine-17.rack-4.example.org', webhookAllow },
});
const admin = new AdminCalls(service);
let browser: Browser;
let tab: ConsoleTab;
let failed: string;

beforeAll(async () => {
  browser = await launchChromium();
  const body = {
    name: 'the web shop of the second floor',
    scopes: ['submit', 'read', 'cancel', 'observe', 'payloads'],
    expires: '90d',
    max_waiting: 100_000,
    max_running: 1_000,
    limits: { submit: '100/s,1000/m', other: '1000/s,18000/m' },
  };
  await admin.json('POST', '/keys', { body });
  const message = 'CUDA out of memory: tried to allocate 20.00 MiB of which none is free. '.repeat(5);
  const hook = `?webhook=${encodeURIComponent('http://127.0.0.1:9/a/rather/long/path/of/the/shop/done')}`;
  failed = await calls.submit(`${story}${hook}`, { status: 500, body: JSON.stringify({ error: message }) });
  await calls.reached(failed, 'COMPLETED');
  await calls.submit('test/pulled');
  await new WorkerCalls(service, 'worker-of-gpu-machine-17.rack-4').run();
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
});
afterAll(() => browser.close());

/** How much wider than allowed the page, or an element in a card, is. */
const over = `JSON.stringify([
  document.documentElement.scrollWidth - innerWidth,
  ...[...document.querySelectorAll('.card')].map((card) =>
    Math.max(0, ...[...card.querySelectorAll('table, .row, dl')].map((inner) =>
      Math.ceil(inner.getBoundingClientRect().right - card.getBoundingClientRect().right)))),
].filter((px) => px > 0))`;

test.each([
  '',
  `models/${story}`,
  'requests',
  'requests?outcome=failed',
  'requests/:failed',
  `try/${story}`,
  'keys',
  'nodes',
  'webhooks',
  'audit',
  'sessions',
])('/console/%s is as wide as its window, on a desk, a laptop and a tablet', async (view) => {
  for (const width of [1440, 1180, 1024, 800, 390]) {
    await tab.page.setViewportSize({ width, height: 900 });
    await tab.show(view.replace(':failed', failed));
    expect([width, await tab.page.evaluate(over)]).toEqual([width, '[]']);
  }
});

test('a lost node is in the header of a phone, which stays as wide as its window', async () => {
  const { page } = tab;
  const nodes = [{ id: 'b', name: 'gpu-machine-18.rack-4.example.org', state: 'fenced' }];
  const first = `event: overview\ndata: ${JSON.stringify({ at: new Date(), models: [], nodes })}\n\n`;
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(first);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  await page.route('**/v1/admin/events', (route) => route.continue({ url: `http://127.0.0.1:${port}/` }));
  await page.setViewportSize({ width: 390, height: 844 });
  await tab.show('sessions');
  await page
    .getByRole('banner')
    .getByText(/gpu-machine-18.* lost/)
    .waitFor();
  expect(await page.evaluate(over)).toBe('[]');
  server.closeAllConnections();
  server.close();
});
