import type { Browser } from 'playwright-core';
import { AdminCalls } from '../support/admin-calls.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab, looks } from '../support/console-tab.js';
import {
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
} from '../support/index.js';
import { ModelServer, ndjson } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { until } from '../support/until.js';

const model = new ModelServer();
const receiver = new WebhookReceiver();
const nodes: TestService[] = [];
let database: TestDatabase;
let browser: Browser;
let tab: ConsoleTab;
let calls: QueueCalls;
let admin: AdminCalls;
/** The ids of the requests that the views show. */
const ids: Record<'picture' | 'failed' | 'running' | 'waiting' | 'cancelled', string> = {
  picture: '',
  failed: '',
  running: '',
  waiting: '',
  cancelled: '',
};

const picture = `data:image/png;base64,${Buffer.from(
  '89504e470d0a1a0a0000000d4948445200000001000000010806000000' +
    '1f15c4890000000d49444154789c63f8cfc0f01f0005000 1ff'.replace(' ', '') +
    '56c72f0d0000000049454e44ae426082',
  'hex',
).toString('base64')}`;

beforeAll(async () => {
  [browser, database] = await Promise.all([launchChromium(), createTestDatabase()]);
  await Promise.all([model.start(), receiver.start()]);
  const models = model.file({
    'acme/image/upscale': { description: 'Makes pictures larger.', concurrency: 3, timeout: '10m' },
    'acme/text/story': { concurrency: 2, attempts: 2, retry: { base: '50ms' } },
    'acme/text/away': { runner: { kind: 'http', url: 'http://127.0.0.1:9/' } },
  });
  for (const nodeName of ['alpha', 'beta', 'gamma']) {
    const config = {
      databaseUrl: database.url,
      bootstrapApiKey: 'test_console_0123456789',
      webhookAllow,
      nodeName,
    };
    nodes.push(await startTestService({ models, limits: 'off', config }));
  }
  const [alpha] = nodes as [TestService];
  calls = new QueueCalls(alpha);
  admin = new AdminCalls(alpha);
  const shop = await calls.newKey({ name: 'web shop' });
  const logs = ndjson([
    { type: 'log', message: 'Loading the weights.' },
    { type: 'output', output: { image: picture, seed: 7 } },
  ]);
  const hook = `?webhook=${encodeURIComponent(receiver.url('/done'))}`;
  ids.picture = await calls.submit(`acme/image/upscale${hook}`, { type: 'application/x-ndjson', body: logs });
  ids.failed = await calls.submit('acme/text/story', {
    status: 500,
    body: '{"detail":"CUDA out of memory"}',
  });
  await calls.submit('acme/text/away');
  for (const id of [ids.picture, ids.failed]) await calls.reached(id, 'COMPLETED');
  await receiver.arrived('/done');
  model.hold();
  ids.running = await calls.submit('acme/image/upscale');
  await calls.reached(ids.running, 'IN_PROGRESS');
  await calls.submitAll(2, 'acme/image/upscale');
  for (let i = 0; i < 5; i++) {
    ids.waiting = await calls.submit('acme/image/upscale', {}, i % 2 ? {} : { authorization: `Key ${shop}` });
  }
  ids.cancelled = await calls.submit('acme/image/upscale');
  expect((await calls.cancel(ids.cancelled)).ok).toBe(true);
  tab = await (await ConsoleTab.open(browser, alpha.url)).signIn(alpha.key);
});

afterAll(async () => {
  await browser.close();
  model.release();
  for (const node of nodes) await node.stop();
  await Promise.all([model.stop(), receiver.stop()]);
  await database.drop();
});

test.each<[view: string, says: RegExp[]]>([
  ['', [/3 running, \d waiting, 1 model unavailable/, /web shop/, /ECONNREFUSED/, /failed in the last hour/]],
  [
    'models/acme/image/upscale',
    [
      /Concurrency: 3…/,
      /Shares of capacity/,
      /http:\/\/127\.0\.0\.1:\d+\s+reached/,
      /now/,
      /web shop/,
      /alpha/,
      /gamma/,
      /Last hour/,
    ],
  ],
  [
    'models/acme/text/away',
    [/Preset: none/, /http:\/\/127\.0\.0\.1:9\s+not reached[\w, ]*\s+since .*ECONNREFUSED/],
  ],
  ['requests', [/\d+ found/, /model_error/, /cancelled/, /web shop/]],
  ['requests?outcome=failed', [/1 found/, /model_error/, /CUDA out of memory/]],
  ['requests/:picture', [/ran .* on alpha and succeeded/, /image\/png/, /seed/]],
  ['requests/:failed', [/ran twice|ran 2 times/, /model_error\s+The model answered 500: CUDA out of memory/]],
  ['requests/:waiting', [/It waits for one of the 3 slots of acme\/image\/upscale/]],
  ['requests/:running', [/running/, /Cancel…/]],
  ['requests/:cancelled', [/Cancelled/]],
  ['try/acme/image/upscale', [/Makes pictures larger/, /curl/]],
  ['keys', [/bootstrap/, /web shop/, /Create a key/]],
  ['nodes', [/alpha/, /beta/, /gamma/, /ECONNREFUSED/]],
  ['webhooks', [/127\.0\.0\.1/, /delivered/]],
  ['audit', [/session\.begin/, /payload\.read/]],
  ['sessions', [/this one/]],
])('/console/%s says what is, in both themes, at a desk and on a phone', async (view, says) => {
  await tab.show(view.replace(/:(\w+)/, (_, name) => ids[name as keyof typeof ids]));
  for (const words of says)
    await until(async () => words.test(await tab.text()), { explain: () => tab.text() });
  for (const [look, viewport, colorScheme] of looks) {
    await tab.page.setViewportSize(viewport);
    await tab.page.emulateMedia({ colorScheme });
    // The page follows its width a moment later.
    await until(async () => (await tab.findings()).length === 0, {
      explain: async () => `${look}: ${(await tab.findings()).join(', ')}`,
    });
  }
});

afterEach(async () => {
  await tab.page.setViewportSize(looks[0][1]);
});

test('a model is paused and resumed, and its concurrency changed', async () => {
  const { page } = tab;
  const control = () => admin.json<object>('GET', '/models/acme/image/upscale');
  await tab.show('models/acme/image/upscale');
  await tab.click('Pause…');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Pause acme/image/upscale', 'dialog');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(await control()).toMatchObject({ paused: { current: 'hold', overridden_by: 'bootstrap' } });
  let send: (() => void) | undefined;
  await page.route('**/models/**', (route) => {
    const isChange = route.request().method() !== 'GET';
    if (isChange) send = () => void route.continue();
    else void route.continue();
  });
  await tab.click('Resume');
  await tab.click('Concurrency: 3…');
  send!();
  await page.getByRole('button', { name: 'Pause…', includeHidden: true }).waitFor({ state: 'attached' });
  await page.unroute('**/models/**');
  // An action that ends meanwhile closes no dialog but its own.
  await page.getByLabel('Concurrency, over all nodes').fill('4');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Set concurrency to 4', 'dialog');
  await page.getByRole('button', { name: 'Concurrency: 4…' }).waitFor();
  expect(await control()).toMatchObject({ paused: { current: false }, concurrency: { current: 4, base: 3 } });
  await tab.click('Concurrency: 4…');
  await tab.click('Reset to 3', 'dialog');
  await page.getByRole('button', { name: 'Concurrency: 3…' }).waitFor();
});

test('one request is cancelled, retried and erased', async () => {
  const { page } = tab;
  await tab.show(`requests/${ids.waiting}`);
  await tab.click('Cancel…');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Cancel this request', 'dialog');
  await page.getByText('Cancelled after').waitFor();
  await tab.click('Retry');
  await page.waitForURL((url) => !url.href.includes(ids.waiting));
  await tab.settled();
  expect(await tab.text()).toContain(ids.waiting);
  await tab.show(`requests/${ids.failed}`);
  await tab.click('Erase…');
  await tab.click('Erase input, output and log', 'dialog');
  await page.getByText('The input was erased.').waitFor();
});

test('all that a filter finds is cancelled, after its count and examples', async () => {
  const { page } = tab;
  await tab.show('requests');
  await page.getByLabel('Model').selectOption('acme/image/upscale');
  await page.getByLabel('State').selectOption({ label: 'waiting' });
  await page.waitForURL(/status=/);
  await tab.settled();
  await tab.click('Cancel all found…');
  const act = page.getByRole('button', { name: /^Cancel \d+ requests?$/ });
  const count = Number(/\d+/.exec(await act.innerText())![0]);
  expect(count).toBeGreaterThan(2);
  expect(await page.locator('dialog li').count()).toBe(3);
  expect(await tab.findings()).toEqual([]);
  await act.click();
  await page.getByText(`${count} cancelled`).waitFor();
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes('status='));
});

test('a key is made, shown once, changed and revoked', async () => {
  const { page } = tab;
  await tab.show('keys');
  await tab.click('Create a key…');
  expect(await tab.findings()).toEqual([]);
  await page.getByLabel('Name of the user or application').fill('night shift');
  await page.getByLabel('Limit of submissions').fill('5/s');
  await tab.click('Create the key', 'dialog');
  const made = await page.getByRole('region', { name: 'New key' }).locator('code').innerText();
  expect((await calls.service.submit('acme/text/story', {}, { authorization: `Key ${made}` })).status).toBe(
    202,
  );
  await tab.click('I have saved it');
  expect(await page.content()).not.toContain(made);
  const row = page.getByRole('row').filter({ hasText: 'night shift' });
  await row.getByRole('button', { name: 'Change…' }).click();
  await page.getByLabel('Weight').fill('3');
  await tab.click('Change night shift', 'dialog');
  await page.locator('dialog').waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Revoke…' }).click();
  await tab.click('Revoke night shift', 'dialog');
  await row.waitFor({ state: 'detached' });
  expect((await calls.service.submit('acme/text/story', {}, { authorization: `Key ${made}` })).status).toBe(
    401,
  );
});

test('a node is drained, and let run again', async () => {
  const gamma = tab.page.getByRole('region', { name: 'Node gamma' });
  await tab.show('nodes');
  await gamma.getByRole('button', { name: 'Drain…' }).click();
  expect(await tab.findings()).toEqual([]);
  await tab.click(/^Drain gamma/, 'dialog');
  await gamma.getByText('Draining since').waitFor();
  await gamma.getByRole('button', { name: 'End drain' }).click();
  await gamma.getByRole('button', { name: 'Drain…' }).waitFor();
});

test('a delivery is sent again', async () => {
  await tab.show('webhooks');
  await tab.click('Send again');
  await receiver.arrived('/done', 2);
  await tab.page.getByText('Sent again').waitFor();
});

test('a model is tried, and its answer shown', async () => {
  model.release();
  await tab.show('try/acme/text/story');
  await tab.click('Submit');
  await tab.page.getByText('and succeeded').waitFor();
  await tab.page.getByText(/attempt: ?1/).waitFor();
});

test('all of it is in the audit, and nothing was asked of anybody else', async () => {
  await tab.show('audit');
  for (const action of [
    'model.pause',
    'model.resume',
    'model.concurrency',
    'key.create',
    'key.revoke',
    'node.drain',
  ])
    expect(await tab.text()).toContain(action);
  expect(tab.strangers()).toEqual([]);
  expect(tab.complaints).toEqual([]);
});
