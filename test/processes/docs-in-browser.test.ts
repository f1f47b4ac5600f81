import type { Browser, Page } from 'playwright-core';
import { startTestService, type TestService, until } from '../support/index.js';
import { launchChromium } from '../support/chromium.js';

let browser: Browser;
let service: TestService;
let page: Page;
/** Whatever a person with the browser's console open would see. */
const complaints: string[] = [];

beforeAll(async () => {
  [browser, service] = await Promise.all([launchChromium(), startTestService()]);
  page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.setDefaultTimeout(10_000);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} failed`));
});
afterAll(async () => {
  await browser.close();
  await service.stop();
});

/** Ids of the requests that were submitted from the page. */
const tried: string[] = [];

const operation = (id: string) => page.locator(`[id$="-${id}"].opblock`);

test('/docs shows every operation, asks nobody else for anything and complains of nothing', async () => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${service.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  for (const id of ['submit', 'status', 'stream', 'response', 'cancel']) {
    expect([id, await operation(id).count()]).toEqual([id, 1]);
  }
  expect(asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('a bare key that is entered under Authorize is used by Try it out, with the model that is chosen', async () => {
  await page.locator('.authorize.btn, button.authorize').first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').first().fill(service.key);
  await dialog.locator('button.authorize[type=submit]').first().click();
  await dialog.locator('.btn-done').first().click();

  const submit = operation('submit');
  await submit.locator('.opblock-summary-control').click();
  await submit.locator('.parameters select').first().selectOption('demo/text/echo');
  // More than once: nothing that was filled in beforehand may be good for one try only.
  for (const prompt of ['from the docs', 'again from the docs']) {
    await submit.locator('textarea.body-param__text').fill(JSON.stringify({ prompt }));
    await submit.locator('.execute').click();
    const answer = submit.locator('.live-responses-table tbody');
    const id = await until(async () => {
      const said = await answer.innerText();
      const found = /"request_id":\s*"([0-9a-f-]{36})"/.exec(said);
      return said.startsWith('202') && found !== null && !tried.includes(found[1]!) && found[1];
    });
    tried.push(id);
    await until(async () => {
      const response = await service.get(`/v1/queue/requests/${id}`);
      return response.status === 200 && ((await response.json()) as { prompt: string }).prompt === prompt;
    });
  }
  expect(complaints).toEqual([]);
}, 60_000);

test('a stream can be tried out too: from its first event to its last', async () => {
  const stream = operation('stream');
  await stream.locator('.opblock-summary-control').click();
  await stream.locator('.parameters input[type=text]').first().fill(tried[0]!);
  await stream.locator('.execute').click();
  const answer = stream.locator('.live-responses-table tbody');
  await until(async () => {
    const said = await answer.innerText();
    return said.startsWith('200') && said.includes('COMPLETED');
  });
  expect(complaints).toEqual([]);
});
