import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { ndjson } from '../support/model-server.js';
import { until } from '../support/until.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls } = testQueue({
  models: { 'test/large': { timeout: '60s' } },
  limits: 'off',
  config: { maxBodyBytes: 40 * 1024 * 1024 },
});
let browser: Browser;
let tab: ConsoleTab;

beforeAll(async () => {
  browser = await launchChromium();
  tab = await ConsoleTab.open(browser, service.url);
  await tab.page.addInitScript(`new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest ?? 0, duration);
  }).observe({ type: 'longtask', buffered: true })`);
  await tab.signIn(service.key);
});
afterAll(() => browser.close());

/**
 * To read 31 MB may take longer than the 5 s of a statement where four processes share a core (a known fault). The page
 * then asks again, and the tests wait for what it shows in the end.
 */
const isRepeated = /status of 503 .*\/(response|input)$/;

/** Returns the number of elements of the page, which stays bounded, however much there is. */
const elements = (): Promise<number> => tab.page.evaluate<number>(`document.querySelectorAll('*').length`);
async function report(what: string): Promise<void> {
  const longest = await tab.page.evaluate<number>('Math.round(window.longest ?? 0)');
  process.stderr.write(`${what}: longest task ${longest} ms, ${await elements()} elements\n`);
}

test('of 32 MB of output a part is shown, then all on demand, and the page goes on', async () => {
  const answer = JSON.stringify({
    text: 'A long line of words. '.repeat(1_300_000),
    list: Array.from({ length: 400_000 }, (_, i) => i),
  });
  const id = await calls.run('test/large', { body: answer });
  await tab.show(`requests/${id}`);
  await tab.page.getByText(/^The first\s.*of\s.*MB\.$/).waitFor();
  expect(await elements()).toBeLessThan(1_500);
  await tab.page.getByRole('button', { name: /^Load all/ }).click();
  await tab.page
    .getByText(/more\scharacters/)
    .first()
    .waitFor();
  expect(await elements()).toBeLessThan(3_000);
  await report('31 MB of output');
  await tab.page.getByRole('tab', { name: 'Input' }).click();
  await tab.page.getByText(/^The first\s/).waitFor();
  await report('31 MB of input');
});

test('a log of a thousand lines and more', async () => {
  const lines = Array.from({ length: 1_200 }, (_, i) => ({ type: 'log', message: `line ${i} of the log` }));
  const body = ndjson([...lines, { type: 'output', output: {} }]);
  const id = await calls.run('test/large', { type: 'application/x-ndjson', body });
  await tab.show(`requests/${id}`);
  await tab.page.getByRole('tab', { name: 'Log' }).click();
  await tab.page
    .getByText(/^1.?\d+\slines/)
    .first()
    .waitFor();
  expect(await tab.page.locator('ol.log li').count()).toBeLessThanOrEqual(1_000);
  await report('1,200 lines of log');
});

test('a list is read on, page by page, with nothing twice', async () => {
  await Promise.all(Array.from({ length: 460 }, () => calls.submit('test/large')));
  // The test checks the page, so nothing else is to be slow meanwhile.
  const left = `SELECT FROM request WHERE state <> 'COMPLETED'`;
  await until(async () => (await service.query(left)).length === 0);
  await tab.show('requests');
  const rows = tab.page.locator('main tbody tr');
  for (let count = 50; count < 450; count += 50) {
    await rows.nth(count - 1).waitFor();
    await tab.click('Show older');
  }
  await rows.nth(449).waitFor();
  const shown = await tab.page
    .locator('main tbody a.id')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  expect(new Set(shown).size).toBe(shown.length);
  await report('450 rows');
  expect(tab.complaints.filter((one) => !isRepeated.test(one))).toEqual([]);
});

test('the rows stay when older ones cannot be read, and older ones follow after another try', async () => {
  const older = '**/v1/admin/requests?*cursor=*';
  await tab.show('requests');
  const rows = tab.page.locator('main tbody tr');
  await rows.nth(49).waitFor();
  const first = await rows.first().innerText();
  await tab.page.route(older, (route) => route.fulfill({ status: 400, body: '{}' }));
  await tab.click('Show older');
  await tab.page.getByText('The service answered 400.').waitFor();
  expect([await rows.count(), await rows.first().innerText()]).toEqual([50, first]);
  await tab.page.unroute(older);
  const from = tab.asked.length;
  await tab.click('Try again');
  await rows.nth(99).waitFor();
  expect(tab.asked.slice(from).filter((url) => url.includes('limit=50'))).toHaveLength(1);
});
