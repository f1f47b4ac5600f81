import { rename, writeFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { SignInLinks } from '../../src/auth/sign-in-links.js';
import { OperationRunner } from '../../src/operations/duties/operation-runner.js';
import { AdminCalls } from '../support/admin-calls.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { ndjson } from '../support/model-server.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const models = {
  'test/one': { concurrency: 1 },
  'test/wide': { concurrency: 50 },
  'test/pulled': pulled,
  'test/away': { runner: { kind: 'http', url: 'http://127.0.0.1:1/' } },
};
const { service, calls, model } = testQueue({ models, limits: 'off', config: { nodeName: 'alpha' } });
const admin = new AdminCalls(service);
let browser: Browser;
let tab: ConsoleTab;

beforeAll(async () => {
  browser = await launchChromium();
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
});
afterAll(() => browser.close());
afterEach(() => {
  expect(tab.strangers()).toEqual([]);
});

const reasons = (action: string) =>
  service.query<{ reason: string | null }>(
    'SELECT reason FROM audit_entry WHERE action = $1 ORDER BY id DESC LIMIT 1',
    [action],
  );

test('a model that no worker asks for says so, and does not hide the first steps', async () => {
  await tab.show('');
  await tab.page.getByText(/No worker available.*start one. No request waits/).waitFor();
  await tab.page.getByRole('region', { name: 'First steps' }).waitFor();
  await tab.page.getByRole('link', { name: '1 model unavailable' }).click();
  await tab.page.waitForURL('**/models/test/pulled');
});

test('a view whose script is gone says so, and the others stay within reach', async () => {
  const late = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
  const views = late.page.getByRole('navigation', { name: 'Views' });
  await late.page.route(/\/audit-[^/]*\.js/, (route) => route.fulfill({ status: 404 }));
  await views.getByRole('link', { name: 'Audit' }).click();
  await late.page.getByRole('heading', { name: 'This view could not be shown' }).waitFor();
  await views.getByRole('link', { name: 'Keys' }).click();
  await late.page.getByRole('heading', { name: 'Keys' }).waitFor();
  await late.close();
});

test('an endpoint is disabled for a reason, and enabled again', async () => {
  const { id: keyId } = await admin.newKey({ name: 'web shop' });
  await service.query(
    `INSERT INTO webhook_endpoint (id, api_key_id, url) VALUES (gen_random_uuid(), $1, 'https://shop.example.org/done')`,
    [keyId],
  );
  await tab.show('webhooks');
  const row = tab.page.getByRole('row').filter({ hasText: 'shop.example.org' });
  await row.getByRole('button', { name: 'Disable…' }).click();
  await tab.page.getByText('0 pending deliveries continue').waitFor();
  await tab.page.getByLabel('Reason').fill('gone for good');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Disable this endpoint', 'dialog');
  await row.getByText('disabled').waitFor();
  expect(await reasons('endpoint.disable')).toEqual([{ reason: 'gone for good' }]);
  await row.getByRole('button', { name: 'Enable' }).click();
  await row.getByRole('button', { name: 'Disable…' }).waitFor();
  expect(await service.query('SELECT FROM webhook_endpoint WHERE disabled_at IS NULL')).toHaveLength(1);
  expect(await reasons('endpoint.enable')).toEqual([{ reason: null }]);
});

test('the session of somebody else is ended, and they sign in again', async () => {
  const { key } = await admin.newKey({ name: 'a guest', scopes: ['observe'] });
  const guest = await (await ConsoleTab.open(browser, service.url)).signIn(key);
  await tab.show('sessions');
  const row = tab.page.getByRole('row').filter({ hasText: 'a guest' });
  await row.getByRole('button', { name: 'End…' }).click();
  await tab.page.getByLabel('Reason').fill('left the house');
  expect(await tab.findings()).toEqual([]);
  await tab.click('End this session', 'dialog');
  await row.waitFor({ state: 'detached' });
  expect(await reasons('session.end')).toEqual([{ reason: 'left the house' }]);
  // The view notices by itself, from the stream that every view has open.
  await guest.page.getByLabel('API key').waitFor();
  await guest.close();
});

test('whose session is over as they go on to another view is asked to sign in there', async () => {
  const { key, id } = await admin.newKey({ name: 'one more guest', scopes: ['observe'] });
  const guest = await ConsoleTab.open(browser, service.url);
  // The stream does not report it.
  await guest.page.route('**/v1/admin/events', () => {});
  await guest.signIn(key);
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(204);
  // If the view has called the service meanwhile, the sign-in is shown already.
  await guest.page.evaluate(`document.querySelector('a[href$="/keys"]')?.click()`);
  await guest.page.getByLabel('API key').waitFor();
  await guest.close();
});

test('a link that is pasted into the address of an open tab signs in there', async () => {
  const { id } = await admin.newKey({ name: 'night watch', scopes: ['observe'] });
  const token = await service.app.get(SignInLinks).make(id);
  const guest = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
  await guest.page.evaluate(`location.hash = '#link=${token}'`);
  await guest.page.getByText('This link signs you in once.').waitFor();
  await guest.click('Sign in');
  await guest.page.getByRole('button', { name: 'night watch' }).waitFor();
  expect(guest.page.url()).not.toContain('link');
  await guest.close();
});

test('a key is made, changed and revoked, and a node drained, each for a reason', async () => {
  await tab.show('keys');
  await tab.click('Create a key…');
  await tab.page.getByLabel('Name of the user').fill('night shift');
  await tab.page.getByLabel('Reason').fill('a new team');
  await tab.click('Create the key', 'dialog');
  const row = tab.page.getByRole('row').filter({ hasText: 'night shift' });
  await row.getByRole('button', { name: 'Change…' }).click();
  await tab.page.getByLabel('Weight').fill('3');
  await tab.page.getByLabel('Reason').fill('they pay for it');
  await tab.click('Change night shift', 'dialog');
  await tab.page.locator('dialog').waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'Revoke…' }).click();
  await tab.page.getByLabel('Reason').fill('dissolved');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Revoke night shift', 'dialog');
  await row.waitFor({ state: 'detached' });
  await tab.show('nodes');
  await tab.click('Drain…');
  await tab.page.getByLabel('Reason').fill('new memory');
  await tab.click('Drain alpha', 'dialog');
  await tab.click('End drain');
  await tab.page.getByRole('button', { name: 'Drain…' }).waitFor();
  const said = await service.query(
    `SELECT action, reason FROM audit_entry WHERE reason IS NOT NULL AND action ~ '^(key|node)' ORDER BY id`,
  );
  expect(said.map(({ action, reason }) => `${String(action)}: ${String(reason)}`)).toEqual([
    'key.create: a new team',
    'key.update: they pay for it',
    'key.revoke: dissolved',
    'node.drain: new memory',
  ]);
});

test('models.yaml is read again: a fault is reported and changes nothing, a new model is there', async () => {
  const write = async (text: string): Promise<void> => {
    const { modelsFile } = service.config;
    await writeFile(`${modelsFile}.new`, text);
    await rename(`${modelsFile}.new`, modelsFile);
  };
  await tab.show('');
  await write(model.file({ 'test/one': { concurency: 1 } }));
  await tab.click('Reload models.yaml');
  await tab.page.getByRole('alert').filter({ hasText: 'concurency' }).waitFor();
  expect(await tab.text()).toContain('test/one');
  await write(model.file({ ...models, 'test/fresh': {} }));
  await tab.click('Reload models.yaml');
  // The service may have seen the change of the file before.
  await tab.page.getByText(/new: test\/fresh|has not changed/).waitFor();
  await tab.page.getByRole('link', { name: 'test/fresh' }).waitFor();
});

test('a pause, an operation and a cancel carry their reasons to the audit', async () => {
  await tab.show('models/test/one');
  await tab.click('Pause…');
  await tab.page.getByLabel('Reason').fill('new weights');
  await tab.click('Pause test/one', 'dialog');
  await tab.page.getByRole('button', { name: 'Resume' }).waitFor();
  expect(await reasons('model.pause')).toEqual([{ reason: 'new weights' }]);
  const [first] = await calls.submitAll(3, 'test/one');
  await tab.show(`requests/${first}`);
  await tab.page.getByText(/waits because test\/one was paused by bootstrap/).waitFor();
  await tab.click('Cancel…');
  await tab.page.getByLabel('Reason').fill('a mistake');
  await tab.click('Cancel this request', 'dialog');
  await tab.page.getByText('Cancelled after').waitFor();
  expect(await reasons('request.cancel')).toEqual([{ reason: 'a mistake' }]);
  await tab.show('requests?status=IN_QUEUE&model_id=test/one');
  await tab.click('Cancel all found…');
  await tab.page.getByLabel('Reason').fill('all of them');
  await tab.click('Cancel 2 requests', 'dialog');
  await tab.page.getByText('2 cancelled').waitFor();
  expect(await reasons('operation.start')).toEqual([{ reason: 'all of them' }]);
  const rows = tab.page.getByRole('region', { name: 'Requests' }).getByRole('row');
  await rows.getByText('cancelled').nth(1).waitFor();
  await tab.page.getByText('0 found').waitFor();
  await tab.click('Refresh');
  await tab.page.getByText('No request matches these filters.').waitFor();
  await tab.show('requests');
  await tab.page.getByText('1 bulk operation ended in the last 24 h').click();
  await tab.page.getByText('2 cancelled').waitFor();
  expect(await tab.findings()).toEqual([]);
  await tab.show('models/test/one');
  await tab.click('Resume');
  await tab.page.getByRole('button', { name: 'Pause…' }).waitFor();
});

test('what failed is summed up with why, and a retry stands beside what it repeats', async () => {
  for (let i = 0; i < 2; i++) await calls.run('test/wide', { status: 418 });
  const id = await calls.run('test/wide', { status: 422 });
  await tab.show('requests');
  await tab.page.getByRole('link', { name: 'Failed in 24 h' }).click();
  const summary = tab.page.getByRole('region', { name: 'Failed requests by cause' });
  await summary.getByText('model_error').first().waitFor();
  expect(await summary.innerText()).toMatch(/2\s+test\/wide[^]*1\s+test\/wide/);
  expect(await tab.findings()).toEqual([]);
  await tab.page.locator(`a[href$="${id}"]`).click();
  await tab.click('Retry');
  await tab.page.waitForURL((url) => !url.href.includes(id));
  await tab.page.getByText('and failed').waitFor();
  await tab.page.getByRole('tab', { name: 'Output' }).click();
  await tab.page.getByRole('heading', { name: /^New/ }).waitFor();
  await tab.page.getByRole('heading', { name: /^Old/ }).waitFor();
  const shown = () => tab.page.getByRole('tabpanel').innerText();
  await until(async () => (await shown()).match(/The model answered 422/g)?.length === 2, {
    explain: shown,
  });
  expect(await tab.findings()).toEqual([]);
});

test('which tab of a request is open is in its address', async () => {
  const id = await calls.run('test/wide');
  await tab.show(`requests/${id}?tab=input`);
  await tab.page.getByRole('tab', { name: 'Input', selected: true }).waitFor();
  await tab.page.getByRole('tab', { name: 'Deliveries' }).click();
  expect(tab.page.url()).toMatch(/\?tab=deliveries$/);
});

test('who goes back to a list finds there what was done meanwhile', async () => {
  const [id] = await calls.submitAll(1, 'test/pulled');
  await tab.show('requests?model_id=test/pulled');
  const row = tab.page.getByRole('row').filter({ hasText: id!.slice(-4) });
  await row.getByText('waiting').waitFor();
  await row.locator('a.id').click();
  await tab.click('Cancel…');
  await tab.click('Cancel this request', 'dialog');
  await tab.page.getByText('Cancelled after').waitFor();
  await tab.page.goBack();
  await row.getByText('cancelled').waitFor();
});

test('the keyboard leads to a request, along the rows, and back to where one was', async () => {
  const { page } = tab;
  const ids = await calls.submitAll(3, 'test/wide');
  const newest = ids.at(-1)!;
  await calls.reached(newest, 'COMPLETED');
  await tab.show('nodes');
  await page.keyboard.press('/');
  await page.getByLabel('Id begins with').waitFor();
  await until(() => page.evaluate(`document.activeElement?.matches('[data-search]')`));
  await page.keyboard.insertText(newest);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/requests/${newest}`);
  await tab.show('requests');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByRole('button', { name: 'Cancel 1 selected…' }).waitFor();
  await page.keyboard.press('k');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/requests/${newest}`);
  await page.goBack();
  await page.waitForURL('**/requests');
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
});

test('a reader types on in a filter after a pause', async () => {
  const { page } = tab;
  const typed = (name: string, text: string): Promise<void> =>
    page.waitForURL(({ searchParams }) => searchParams.get(name) === text);
  await tab.show('requests');
  await page.getByLabel('Error code').pressSequentially('model');
  await typed('code', 'model');
  await page.keyboard.type('_error');
  await typed('code', 'model_error');
  expect(await page.evaluate('document.activeElement.value')).toBe('model_error');
  await page.getByLabel('Tag').pressSequentially('job ');
  await typed('tag', 'job');
  await page.keyboard.type('17');
  await typed('tag', 'job 17');
  expect(new URL(page.url()).searchParams.get('code')).toBe('model_error');
});

test('on a phone the filters are one line, which opens', async () => {
  const { page } = tab;
  await page.setViewportSize({ width: 390, height: 844 });
  await tab.show('requests?outcome=succeeded&model_id=test/wide');
  const fold = page.getByRole('button', { name: 'Filters (2)' });
  expect(await fold.getAttribute('aria-expanded')).toBe('false');
  expect(await page.getByLabel('Outcome').isVisible()).toBe(false);
  expect((await page.locator('main tbody tr').first().boundingBox())!.y).toBeLessThan(600);
  await fold.click();
  await page.getByLabel('Outcome').selectOption('failed');
  await page.waitForURL(/outcome=failed/);
  // The reader may set another filter.
  expect(await fold.getAttribute('aria-expanded')).toBe('true');
  expect(await tab.findings()).toEqual([]);
  await page.setViewportSize({ width: 1440, height: 900 });
});

test('a node that is silent says until when its slots rest, and one that is slow how slow', async () => {
  const time = (p50: number) => ({ recent_runs: 9, recent_failed: 1, run_time: { p50, p95: p50 * 2 } });
  await tab.page.route('**/v1/admin/nodes', async (route) => {
    const { data } = (await (await route.fetch()).json()) as { data: { models: object[] }[] };
    const [node] = data;
    const [first] = node!.models;
    const resting = { ...first, ...time(3), resting_until: new Date().toISOString() };
    await route.fulfill({
      json: {
        data: [
          { ...node, models: [{ ...first, ...time(1) }] },
          { ...node, id: 'silent', name: 'silent', state: 'fenced', models: [resting] },
          { ...node, id: 'gone', name: 'gone', state: 'lost', lost_at: '2026-03-01T12:00:00Z', lost_runs: 3 },
        ],
      },
    });
  });
  await tab.show('nodes');
  const card = tab.page.getByRole('region', { name: 'Node silent' });
  await card.getByText('lost', { exact: true }).waitFor();
  await card.getByText(/No heartbeat since .* slots rest until/).waitFor();
  const gone = tab.page.getByRole('region', { name: 'Node gone' });
  await gone.getByText(/It had 3\sruns, which returned to the queue or ended/).waitFor();
  expect(await gone.getByRole('button', { name: 'Drain…' }).count()).toBe(0);
  await card.getByText('slow, 3.0 times the fastest').waitFor();
  await card.getByRole('link', { name: '1 of 9' }).waitFor();
  expect(await tab.findings()).toEqual([]);
  await tab.page.unroute('**/v1/admin/nodes');
});

test('workers are listed, drained for a reason, and let claim again; a request names its worker', async () => {
  const { page } = tab;
  const worker = new WorkerCalls(service, 'gpu-box-1');
  const id = await calls.submit('test/pulled');
  const run = await worker.run();
  await tab.show('nodes');
  const row = page.getByRole('row').filter({ hasText: 'gpu-box-1' });
  await row.getByText('ready').waitFor();
  expect(await row.innerText()).toContain('test/pulled');
  expect((await worker.output(run)).status).toBe(200);
  await row.getByRole('button', { name: 'Drain…' }).click();
  await page.getByLabel('Reason').fill('a new driver');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Drain gpu-box-1', 'dialog');
  await row.getByText('draining').waitFor();
  expect(await reasons('worker.drain')).toEqual([{ reason: 'a new driver' }]);
  await row.getByRole('button', { name: 'Stop…' }).click();
  await tab.click('Stop gpu-box-1', 'dialog');
  await row.getByText('stopping').waitFor();
  await row.getByRole('button', { name: 'Resume' }).click();
  await row.getByRole('button', { name: 'Drain…' }).waitFor();
  for (const { width, height } of [
    { width: 390, height: 844 },
    { width: 1440, height: 900 },
  ]) {
    await page.setViewportSize({ width, height });
    expect(await tab.findings()).toEqual([]);
  }
  await tab.show(`requests/${id}`);
  await page.getByText(/on gpu-box-1 and succeeded/).waitFor();
  await page.locator('svg text.lane').getByText('gpu-box-1').waitFor();
});

test('a model that is away is probed at once when an operator asks for it', async () => {
  const id = await calls.submit('test/away');
  await tab.show('models/test/away');
  await tab.click('Probe now');
  await until(async () => (await reasons('model.probe')).length === 1, { message: 'it is in the audit' });
  expect(await tab.findings()).toEqual([]);
  expect((await calls.cancel(id)).status).toBe(200);
});

test('a closed dialog returns the focus to the button that opened it', async () => {
  await tab.show('nodes');
  await tab.page.getByRole('button', { name: 'Drain…' }).first().focus();
  await tab.page.keyboard.press('Enter');
  await tab.page.getByRole('dialog').waitFor();
  await tab.page.keyboard.press('Escape');
  await tab.page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Drain…');
});

test('the page of a request shows at once that its run was asked to stop', async () => {
  const worker = new WorkerCalls(service);
  const running = await calls.submit('test/pulled');
  const run = await worker.run();
  await tab.show(`requests/${running}`);
  await tab.page.getByText('It has been running').waitFor();
  await tab.click('Cancel…');
  await tab.click('Cancel this request', 'dialog');
  await tab.page.getByText('It was asked to stop').waitFor();
  expect((await worker.output(run)).status).toBe(200);
  await calls.reached(running, 'COMPLETED');
});

test('a log that was erased is shown no more', async () => {
  const lines = [
    { type: 'log', message: 'The name of a patient.' },
    { type: 'output', output: {} },
  ];
  const id = await calls.run('test/wide', { type: 'application/x-ndjson', body: ndjson(lines) });
  await tab.show(`requests/${id}?tab=log`);
  await tab.page.getByText('The name of a patient.').waitFor();
  await tab.click('Erase…');
  await tab.click('Erase input, output and log', 'dialog');
  await tab.page.getByText('No log lines').waitFor();
});

test('a dialog shows why its action failed, and gives neither the error nor the reason to the next one', async () => {
  const dialog = tab.page.getByRole('dialog');
  const id = await calls.submit('test/pulled');
  await tab.show(`requests/${id}`);
  const detail = 'Another operator was faster.';
  const refuse = { status: 409, json: { code: 'already_completed', detail } };
  await tab.page.route('**/cancel', (route) => route.fulfill(refuse));
  await tab.click('Cancel…');
  await tab.page.getByLabel('Reason').fill('a runaway input');
  await tab.click('Cancel this request', 'dialog');
  await dialog.getByText(detail).waitFor();
  expect(await tab.findings()).toEqual([]);
  await tab.page.unroute('**/cancel');
  await tab.click('Go back', 'dialog');
  await dialog.waitFor({ state: 'detached' });
  expect(await tab.text()).not.toContain(detail);
  await tab.click('Cancel…');
  expect(await dialog.innerText()).not.toContain(detail);
  await tab.click('Cancel this request', 'dialog');
  await tab.page.getByText('Cancelled after').waitFor();
  expect(await reasons('request.cancel')).toEqual([{ reason: null }]);
  await tab.click('Erase…');
  await tab.page.getByLabel('Reason').fill('no longer needed');
  await tab.click('Go back', 'dialog');
  await tab.click('Retry');
  await tab.page.waitForURL((url) => !url.href.includes(id));
  expect(await reasons('request.retry')).toEqual([{ reason: null }]);
  await tab.click('Cancel…');
  await tab.click('Cancel this request', 'dialog');
  await tab.page.getByText('Cancelled after').waitFor();
});

test('the count of an operation follows the requests until it starts', async () => {
  await calls.submitAll(2, 'test/pulled?tag=count:1');
  await tab.show('requests?tag=count:1');
  await tab.click('Cancel all found…');
  await tab.page.getByRole('button', { name: 'Cancel 2 requests' }).waitFor();
  await tab.page
    .getByText('Requests that are submitted after you press the button are not included.')
    .waitFor();
  await calls.submit('test/pulled?tag=count:1');
  await tab.click('Cancel 3 requests', 'dialog');
  const progress = tab.page.getByRole('region', { name: /^Cancel 3\s/ });
  await progress.getByText('3 cancelled').waitFor();
});

/** Lets the service do what the page asks for, and loses the answer. */
async function loseAnswer(path: string): Promise<void> {
  await tab.page.route(`**/v1/admin${path}`, async (route) => {
    const request = route.request();
    const body = request.postData() ?? '{}';
    if (request.method() !== 'POST' || body.includes('validate_only')) return route.continue();
    await admin.json('POST', path, { body });
    await route.abort();
  });
}

test('a page whose call gets no answer shows what the service has begun, and says that it may have', async () => {
  const dialog = tab.page.getByRole('dialog');
  const runner = service.app.get(OperationRunner);
  await calls.submitAll(2, 'test/pulled?tag=lost:1');
  await tab.show('requests?tag=lost:1');
  await loseAnswer('/operations');
  await runner.stop();
  await tab.click('Cancel all found…');
  await tab.click('Cancel 2 requests', 'dialog');
  await dialog.getByText('The operation may have started').waitFor();
  await tab.click('Go back', 'dialog');
  await tab.page.getByRole('heading', { name: /^Cancel: finding requests/ }).waitFor();
  await runner.runOnce();
  runner.start();
  const progress = tab.page.getByRole('region', { name: /^Cancel 2\s/ });
  await progress.getByText('2 cancelled').waitFor();
  const id = await calls.run('test/wide');
  await tab.show(`requests/${id}`);
  await loseAnswer(`/requests/${id}/retry`);
  await tab.click('Retry');
  await tab.page.getByText('The request may have been retried').waitFor();
  await tab.page.getByText('Retried as', { exact: true }).waitFor();
  await tab.page.unrouteAll();
  const detail = 'The model is paused.';
  await tab.page.route('**/retry', (route) =>
    route.fulfill({ status: 503, json: { code: 'model_paused', detail } }),
  );
  await tab.click('Retry');
  await tab.page.getByText(detail).waitFor();
  expect(await tab.text()).not.toContain('may have been retried');
  await tab.page.unrouteAll();
});

test('an SVG of an output is shown as a picture, and no address of the page leads to its scripts', async () => {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect fill="#f00" width="9" height="9"/>`;
  const large = Buffer.from(`${svg}<!--${'x'.repeat(2_500_000)}--></svg>`).toString('base64');
  const output = { small: `data:image/svg+xml,${svg}</svg>`, large: `data:image/svg+xml;base64,${large}` };
  const id = await calls.run('test/wide', { body: JSON.stringify(output) });
  const guest = await ConsoleTab.open(browser, service.url);
  await guest.page.addInitScript(`
    const { createObjectURL } = URL;
    window.blobTypes = [];
    URL.createObjectURL = (blob) => {
      window.blobTypes.push(blob.type);
      return createObjectURL(blob);
    };
  `);
  await guest.signIn(service.key);
  await guest.show(`requests/${id}`);
  await until(
    async () =>
      (await guest.page.evaluate(
        `[...document.querySelectorAll('figure img')].map(({ naturalWidth }) => naturalWidth).join()`,
      )) === '30,30',
  );
  const inert = 'application/octet-stream';
  expect(await guest.page.evaluate('blobTypes')).toEqual([inert, inert]);
  const download = guest.page.waitForEvent('download');
  await guest.page.getByRole('link', { name: 'output.svg' }).first().click();
  expect((await download).suggestedFilename()).toBe('output.svg');
  expect(guest.complaints).toEqual([]);
  await guest.close();
});

test('a sign-out that fails says so, and a key that changes nothing can sign out', async () => {
  const { key } = await admin.newKey({ name: 'a visitor', scopes: ['observe'] });
  const guest = await (await ConsoleTab.open(browser, service.url)).signIn(key);
  await guest.page.route('**/v1/admin/session', (route) =>
    route.request().method() === 'DELETE' ? route.abort() : route.continue(),
  );
  await guest.page.getByRole('button', { name: 'a visitor' }).click();
  await guest.click('Sign out', '#account');
  await guest.page.locator('#account').getByText('The service does not answer.').waitFor();
  expect(await guest.findings()).toEqual([]);
  await guest.page.unroute('**/v1/admin/session');
  await guest.show('sessions');
  await guest.click('Sign out');
  await guest.page.getByLabel('API key').waitFor();
  await guest.close();
});
