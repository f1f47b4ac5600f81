import type { Browser, Locator } from 'playwright-core';
import { AdminCalls } from '../support/admin-calls.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { keyHeader } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';
import { until } from '../support/until.js';
import { pulled } from '../support/worker-calls.js';

const story = 'acme/text/story';
const { service, calls, model, receiver } = testWebhooks(
  {},
  { [story]: {}, 'test/one': { concurrency: 1 }, 'test/pulled': pulled },
);
const admin = new AdminCalls(service);
let browser: Browser;
let tab: ConsoleTab;

beforeAll(async () => {
  browser = await launchChromium();
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
});
afterAll(() => browser.close());

test('two pages that follow runs leave connections for other calls', async () => {
  const [first, second] = await calls.submitAll(2, story, { hold: true });
  await tab.show(`requests/${first}`);
  await tab.page.getByText('It has been running').waitFor();
  const other = await tab.another();
  await other.show(`requests/${second}`);
  await other.click('Cancel…');
  await other.click('Cancel this request', 'dialog');
  await calls.reached(second!, 'COMPLETED');
  await other.page.close();
  await model.answer(first!);
  await tab.page.getByText('and succeeded').waitFor();
});

test('a page opens one stream for a request, with the log while it shows it', async () => {
  const id = await calls.submit(story, { hold: true });
  const streams = (): string[] =>
    tab.asked.filter((url) => url.includes(`${id}/status/stream`)).map((url) => url.split('stream')[1]!);
  await model.say(id, [{ type: 'log', message: 'Warming up.' }]);
  await tab.show(`requests/${id}`);
  await tab.page.getByText('Warming up.').waitFor();
  expect(streams()).toEqual(['?logs=1']);
  await tab.page.getByRole('tab', { name: 'Input' }).click();
  await until(() => streams().length === 2);
  expect(streams()).toEqual(['?logs=1', '']);
  await model.say(id, [{ type: 'output', output: {} }]);
  await model.answer(id, '');
  await tab.page.getByText('and succeeded').waitFor();
  expect(streams()).toHaveLength(2);
});

test('the lines of a log stay when it cannot be read again at the end', async () => {
  const id = await calls.submit(story, { hold: true });
  await model.say(id, [{ type: 'log', message: 'Nearly done.' }]);
  await tab.show(`requests/${id}?tab=log`);
  const line = tab.page.locator('ol.log li').filter({ hasText: 'Nearly done.' });
  await line.waitFor();
  await tab.page.route('**/log', (route) => route.fulfill({ status: 400, body: '{}' }));
  await model.say(id, [{ type: 'output', output: {} }]);
  await model.answer(id, '');
  await tab.page.getByText('The service answered 400.').waitFor();
  expect(await line.count()).toBe(1);
  await tab.page.unroute('**/log');
  await tab.click('Try again');
  await tab.page.getByText('The service answered 400.').waitFor({ state: 'detached' });
  expect(await line.count()).toBe(1);
});

test('a retry is compared with its original while it runs, and when it has completed', async () => {
  const id = await calls.submit(story, { hold: true });
  await model.answer(id, '{"answer":"first"}');
  await calls.reached(id, 'COMPLETED');
  const { request_id: retry } = await admin.json<{ request_id: string }>('POST', `/requests/${id}/retry`);
  await model.arrived(retry);
  await tab.show(`requests/${id}`);
  await tab.page.getByLabel('Compare with its retry').check();
  const other = tab.page.locator('.two > .stack').nth(1);
  await other.getByText('running', { exact: true }).waitFor();
  await model.answer(retry, '{"answer":"second"}');
  await other.getByText('succeeded', { exact: true }).waitFor();
  await other.getByText('second').first().waitFor();
});

test('a request that waits for the bound of its key says so until the bound is raised', async () => {
  const { id: keyId, key } = await admin.newKey({ name: 'web shop', maxRunning: 1 });
  const first = await calls.submit('test/one', { hold: true }, keyHeader(key));
  await model.arrived(first);
  const second = await calls.submit('test/one', {}, keyHeader(key));
  await tab.show(`requests/${second}`);
  await tab.page.getByText(/already has 1\srun of test\/one, its maximum/).waitFor();
  await admin.json('PATCH', `/keys/${keyId}`, { body: { max_running: 2 } });
  await tab.page.getByText('It waits for the only slot of test/one, which is busy').waitFor();
  await model.answer(first);
  await tab.page.getByText('and succeeded').waitFor();
});

test('a pending delivery is shown as delivered when it is', async () => {
  receiver.answer = () => undefined;
  const id = await calls.submit(`${story}?webhook=${encodeURIComponent(receiver.url('/done'))}`);
  const [hook] = await receiver.arrived('/done');
  await tab.show(`requests/${id}?tab=deliveries`);
  const deliveries = tab.page.getByRole('tabpanel');
  await deliveries.getByText('pending', { exact: true }).waitFor();
  hook!.response.writeHead(204).end();
  await deliveries.getByText('delivered', { exact: true }).waitFor();
});

test('a delivery appears when a request completes whose deliveries are shown', async () => {
  const id = await calls.submit(`${story}?webhook=${encodeURIComponent(receiver.url('/late'))}`, {
    hold: true,
  });
  await tab.show(`requests/${id}?tab=deliveries`);
  await tab.page.getByText('This request has no webhook deliveries.').waitFor();
  await model.answer(id);
  await tab.page.getByRole('tabpanel').getByText('delivered', { exact: true }).waitFor();
});

test('newer requests are counted when the newest one that is shown no longer waits', async () => {
  const [, newest] = await calls.submitAll(2, 'test/pulled');
  await tab.show('requests?status=IN_QUEUE&model_id=test/pulled');
  await tab.page
    .getByRole('row')
    .filter({ hasText: newest!.slice(-4) })
    .waitFor();
  expect((await calls.cancel(newest!)).ok).toBe(true);
  await calls.submit('test/pulled');
  await tab.page.getByText('1 new', { exact: true }).waitFor();
});

/** Checks that a screen reader, which reads each change of a live region, does not read a text that changes with time. */
async function isNotRead(passing: Locator): Promise<void> {
  const regions = tab.page.locator('[aria-live]');
  const [text, read] = [await passing.innerText(), await regions.allInnerTexts()];
  await until(async () => (await passing.innerText()) !== text);
  expect(await regions.allInnerTexts()).toEqual(read);
}

test('a screen reader reads the state of a tried request, and not each second of its run', async () => {
  await tab.show(`try/${story}`);
  await tab.page.locator('textarea').fill('{"hold": true}');
  await tab.click('Submit');
  const sentence = tab.page.getByText('It has been running');
  await sentence.waitFor();
  expect(await tab.page.locator('[aria-live]').allInnerTexts()).toContain('running');
  await isNotRead(sentence);
});

test('a screen reader reads the place of a waiting request, and not each second that it waits', async () => {
  const [first, second] = await calls.submitAll(2, 'test/one', { hold: true });
  await model.arrived(first!);
  await tab.show('');
  await tab.page.locator(`.strip a[href$="${second}"]`).focus();
  const waited = tab.page.locator('.legend time');
  await waited.waitFor();
  expect((await tab.page.locator('[aria-live]').allInnerTexts()).join()).toContain('first in the queue');
  await isNotRead(waited);
});

test('a screen reader reads a point of the timeline, and not each second of a run that continues', async () => {
  const id = await calls.submit(story, { hold: true });
  await model.arrived(id);
  await tab.show(`requests/${id}`);
  const readout = tab.page.locator('.timeline p').filter({ hasText: 'until now' });
  await tab.page.getByRole('img', { name: /^Timeline/ }).focus();
  // The last press leads to now, which a moment later is within the run.
  for (let i = 0; i < 5; i++) await tab.page.keyboard.press('ArrowRight');
  await readout.waitFor();
  await isNotRead(readout);
});
