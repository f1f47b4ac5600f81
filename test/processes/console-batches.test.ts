import type { Browser } from 'playwright-core';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab, looks } from '../support/console-tab.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  models: { 'acme/text/label': { concurrency: 8 }, 'acme/image/upscale': { concurrency: 2 } },
  limits: 'off',
});
let browser: Browser;
let tab: ConsoleTab;
/** The ids of the batches that the views show. */
const ids = { completed: '', failed: '', running: '' };

beforeAll(async () => {
  browser = await launchChromium();
  const shop = new BatchCalls({ url: service.url, key: await calls.newKey({ name: 'web shop' }) });
  const lines = inputLines(40, (i) =>
    i % 10 === 3 ? { status: 422, body: '{"reason":"no"}' } : { page: i },
  );
  ids.completed = (await shop.send(lines, '?model_id=acme/text/label&tag=book:7')).batch_id;
  ids.failed = (await shop.send('{"custom_id": 7}\nnonsense', '?model_id=acme/text/label')).batch_id;
  for (const id of [ids.completed, ids.failed]) await shop.ended(id);
  model.hold();
  ids.running = (await shop.send(inputLines(500), '?model_id=acme/image/upscale')).batch_id;
  await shop.until(ids.running, ({ counts }) => counts.running === 2);
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
});
afterAll(async () => {
  await browser.close();
  model.release();
});

test.each<[view: string, says: RegExp[]]>([
  ['batches', [/in progress/, /40 of 40/, /web shop/, /book:7/, /acme\/text\/label/]],
  ['batches?status=failed', [/failed/]],
  [
    'batches/:completed',
    [/All lines are done; 4 failed/, /36 succeeded/, /Output: 36 lines/, /Errors: 4 lines/],
  ],
  ['batches/:failed', [/The input is invalid: 2 errors/, /bad_request/]],
  ['batches/:running', [/500 lines remain/, /2 running/, /Cancel…/]],
])('/console/%s says what is, in both themes, at a desk and on a phone', async (view, says) => {
  await tab.show(view.replace(/:(\w+)/, (_, name) => ids[name as keyof typeof ids]));
  for (const words of says)
    await until(async () => words.test(await tab.text()), { explain: () => tab.text() });
  for (const [look, viewport, colorScheme] of looks) {
    await tab.page.setViewportSize(viewport);
    await tab.page.emulateMedia({ colorScheme });
    await until(async () => (await tab.findings()).length === 0, {
      explain: async () => `${look}: ${(await tab.findings()).join(', ')}`,
    });
  }
  await tab.page.setViewportSize(looks[0][1]);
});

test('a batch is cancelled for a reason, and its requests are one click away', async () => {
  await tab.show(`batches/${ids.running}`);
  await tab.click('Cancel…');
  await tab.page.getByLabel('Reason').fill('asked for');
  expect(await tab.findings()).toEqual([]);
  await tab.click('Cancel this batch', 'dialog');
  await tab.page.getByText('The batch is being cancelled.').waitFor();
  const entries = await service.query<object>(
    `SELECT target, reason FROM audit_entry WHERE action = 'batch.cancel'`,
  );
  expect(entries).toEqual([{ target: ids.running, reason: 'asked for' }]);
  await tab.page.getByRole('link', { name: 'requests of this batch' }).click();
  await tab.page.waitForURL(/requests\?tag=batch/);
  expect(tab.complaints).toEqual([]);
});
