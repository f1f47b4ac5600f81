import type { Browser } from 'playwright-core';
import { DiskSpace } from '../../src/files/disk-space.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { DatabaseGate } from '../support/database-gate.js';
import { ModelServer } from '../support/model-server.js';
import { QueueCalls } from '../support/queue-calls.js';
import {
  createTestDatabase,
  startTestService,
  type TestDatabase,
  type TestService,
} from '../support/index.js';

const model = new ModelServer();
const story = 'acme/text/story';
let database: TestDatabase;
let gate: DatabaseGate;
let service: TestService;
let calls: QueueCalls;
let browser: Browser;
let tab: ConsoleTab;

beforeAll(async () => {
  await model.start();
  database = await createTestDatabase();
  gate = await DatabaseGate.before(database.url);
  service = await startTestService({
    models: model.file({ [story]: {}, 'acme/text/broken': {} }),
    limits: 'off',
    config: { databaseUrl: gate.url, nodeName: 'alpha' },
  });
  calls = new QueueCalls(service);
  browser = await launchChromium();
  tab = await ConsoleTab.open(browser, service.url);
  await tab.signIn(service.key);
});
afterAll(async () => {
  await browser.close();
  gate.open();
  model.release();
  await service.stop();
  await gate.stop();
  await model.stop();
  await database.drop();
});

const said = (text: string | RegExp) => tab.page.getByText(text).first();
const button = (name: string | RegExp) => tab.page.getByRole('button', { name }).first();
const noDatabase = 'The service cannot reach its database';
const allReady = '1 node · ready';

test.each(['close', 'hang'] as const)(
  'every view says that the database is away (%s), as of when it shows its figures, and offers nothing that would fail',
  async (away) => {
    await tab.show('');
    await said(allReady).waitFor();
    await button('Pause…').waitFor();
    gate[away]();
    await said(noDatabase).waitFor();
    await said(/All figures are as of \d\d:\d\d:\d\d/).waitFor();
    await said(/^At \d\d:\d\d:\d\d: /).waitFor();
    await said('1 node · no database').waitFor();
    expect(await said(allReady).isVisible()).toBe(false);
    expect(await button('Pause…').isDisabled()).toBe(true);
    expect(await button('Pause…').getAttribute('title')).toContain('cannot reach its database');
    for (const view of ['Nodes', 'Keys', 'Webhooks', 'Requests', 'Try', 'Audit']) {
      await tab.page.getByRole('navigation', { name: 'Views' }).getByText(view, { exact: true }).click();
      expect(await said(noDatabase).isVisible()).toBe(true);
    }
    gate.open();
    await said(noDatabase).waitFor({ state: 'detached' });
    await said(allReady).waitFor();
  },
);

test('every page says that a disk has no room, and what that keeps from being done', async () => {
  const space = service.app.get(DiskSpace);
  const { measure } = space;
  const fault = 'The disk is nearly full: files are refused';
  try {
    space.measure = () => Promise.resolve({ bsize: 1, blocks: 1_000_000, bavail: 1_000 });
    for (const view of ['', 'nodes', 'keys']) {
      await tab.show(view);
      await said(fault).waitFor();
    }
    await said('disk fault').waitFor();
  } finally {
    space.measure = measure;
  }
  await said(fault).waitFor({ state: 'detached' });
});

test('a page that is loaded while the database is away says so, and goes on by itself', async () => {
  await tab.show('');
  gate.close();
  await said(noDatabase).waitFor();
  await tab.page.reload();
  await said('The database cannot be reached').waitFor();
  gate.open();
  await said(allReady).waitFor();
});

test('a service that is gone is told from its database', async () => {
  await tab.show('');
  await said(allReady).waitFor();
  await tab.page.context().setOffline(true);
  await said('No connection to the service.').waitFor();
  expect(await said(noDatabase).isVisible()).toBe(false);
  expect(await button('Pause…').isDisabled()).toBe(true);
  await tab.page.context().setOffline(false);
  await said(allReady).waitFor();
  expect(await button('Pause…').isDisabled()).toBe(false);
});

test('a model whose runs all fail says so, with what it answered', async () => {
  for (let i = 0; i < 5; i++) await calls.run('acme/text/broken', { status: 500 });
  await tab.show('');
  await said(/All of its last 5 runs failed: model_error \(The model answered 500/).waitFor();
  await said('1 model failing').click();
  await said(/All of its last 5 runs failed/).waitFor();
  await calls.run('acme/text/broken', {});
  await said(/All of its last 5 runs failed/).waitFor({ state: 'detached' });
  for (let i = 0; i < 5; i++) await calls.run(story, { status: 422 });
  await tab.show('');
  await said(/The model refused the input of all of its last 5 runs/).waitFor();
});

test('where no node runs requests the overview says so, how many wait, and what to do', async () => {
  const [node] = await service.query<{ id: string }>('SELECT id FROM node');
  const drain = (method: string): Promise<Response> =>
    service.get(`/v1/admin/nodes/${node!.id}/drain`, {
      method,
      headers: { authorization: `Key ${service.key}`, 'content-type': 'application/json' },
      body: '{}',
    });
  expect((await drain('POST')).status).toBe(200);
  const ids = await calls.submitAll(3, story);
  await tab.show('');
  await said('No node runs requests: 3 requests wait, none is lost.').waitFor();
  await said('alpha drains: end a drain under').waitFor();
  await said(/no node runs requests, alpha draining/).waitFor();
  const view = await service.get(`/v1/models/${story}`, {
    headers: { authorization: `Key ${service.key}` },
  });
  expect(await view.json()).toMatchObject({ availability: 'unavailable', waiting: 3 });
  expect(await calls.status(ids[0]!)).toMatchObject({ reason: 'unavailable' });
  await drain('DELETE');
  await said('No node runs requests').waitFor({ state: 'detached' });
  for (const id of ids) await calls.reached(id, 'COMPLETED');
});
