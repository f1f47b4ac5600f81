import type { Browser, Page } from 'playwright-core';
import { patienceMs, startTestService, type TestService, until } from '../support/index.js';
import { launchChromium } from '../support/chromium.js';

let browser: Browser;
let service: TestService;
let page: Page;
/** Everything that the browser's console would show. */
const complaints: string[] = [];

beforeAll(async () => {
  [browser, service] = await Promise.all([launchChromium(), startTestService()]);
  page = await browser.newPage({ viewport: { width: 1280, height: 1600 } });
  page.setDefaultTimeout(patienceMs);
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

test('/docs shows the operations of a request, loads nothing from other hosts and logs no error', async () => {
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(`${service.url}/docs`);
  await page.locator('.opblock').first().waitFor();
  for (const id of ['submitRequest', 'readStatus', 'streamStatus', 'fetchResponse', 'cancelRequest']) {
    expect([id, await operation(id).count()]).toEqual([id, 1]);
  }
  expect(asked.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'))).toEqual([]);
  expect(complaints).toEqual([]);
});

test('Try it out uses the bare key from Authorize and the chosen model', async () => {
  await page.locator('.authorize.btn, button.authorize').first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').first().fill(service.key);
  await dialog.locator('button.authorize[type=submit]').first().click();
  await dialog.locator('.btn-done').first().click();

  const submit = operation('submitRequest');
  await submit.locator('.opblock-summary-control').click();
  await submit.locator('.parameters select').first().selectOption('demo/text/echo');
  // Twice, because a value that is filled in beforehand must not be valid for one try only.
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
});

test('Try it out shows a stream up to its last event', async () => {
  const stream = operation('streamStatus');
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

test.each([
  [1280, 'light'],
  [1280, 'dark'],
  [390, 'light'],
  [390, 'dark'],
] as const)(
  'at a width of %i in %s mode, no content overflows the page and all text has enough contrast',
  async (width, colorScheme) => {
    const other = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    for (const path of ['/docs#/Requests/submitRequest', '/docs/errors#gone']) {
      await other.goto(service.url + path);
      await other.locator('.opblock-body, tr:target').first().waitFor();
      expect(await other.evaluate(`document.documentElement.scrollWidth - innerWidth`)).toBe(0);
      expect(await other.evaluate(faintTexts)).toEqual([]);
    }
    await other.close();
  },
);

/** Runs in the page: the texts whose contrast with what is behind them is below 4.5 (WCAG 2, AA). */
const faintTexts = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const over = (front, back) => [0, 1, 2].map((i) => (front[i] * front[3] + back[i] * (255 - front[3])) / 255);
  const behind = (element) =>
    element === null ? [255, 255, 255] : over(rgba(getComputedStyle(element).backgroundColor), behind(element.parentElement));
  const luminance = (color) => {
    const [r, g, b] = color.map((part) => (part <= 10 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const element of document.querySelectorAll('body *')) {
    const says = [...element.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim() !== '');
    if (!says || !element.checkVisibility() || element.closest('select, noscript') !== null) continue;
    const back = behind(element);
    const [dark, light] = [back, over(rgba(getComputedStyle(element).color), back)].map(luminance).sort((a, b) => a - b);
    const contrast = (light + 0.05) / (dark + 0.05);
    if (contrast < 4.5) faint.push(element.className + ': ' + element.textContent.slice(0, 40) + ' ' + contrast.toFixed(1));
  }
  return faint;
})()`;
