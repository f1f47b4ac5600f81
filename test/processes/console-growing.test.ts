import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const { service, calls, model } = testQueue({
  models: { 'acme/text/story': { attempts: 2 } },
  limits: 'off',
});
let browser: Browser;
let tab: ConsoleTab;

beforeAll(async () => {
  browser = await launchChromium();
  tab = await (await ConsoleTab.open(browser, service.url)).signIn(service.key);
});
afterAll(() => browser.close());

const shows = (text: string): Promise<unknown> =>
  until(async () => (await tab.text()).includes(text), {
    message: `the page shows ${text}`,
    explain: () => tab.text(),
  });
const delta = (text: string): object => ({ type: 'delta', delta: text });

test('the page of a request shows how far it is and its output as it grows, anew with another attempt', async () => {
  const id = await calls.submit('acme/text/story', { hold: true });
  await model.say(id, [{ type: 'progress', value: 0.25, message: 'Thinking.' }, delta('Twice')]);
  await tab.show(`requests/${id}`);
  await shows('25 %');
  await shows('Thinking.');
  await tab.page.getByRole('tab', { name: 'Output' }).click();
  await shows('Twice');
  await model.say(id, [delta(' upon a'), { type: 'progress', value: 0.5 }]);
  await shows('Twice upon a');
  await shows('50 %');
  await model.say(id, [{ type: 'error', message: 'again', retryable: true }]);
  await model.arrived(id, 2);
  await model.say(id, [delta('Once upon a time')], 2);
  await shows('Attempt 2 began it anew.');
  expect(await tab.text()).not.toMatch(/Twice|50 %/);
  await model.answer(id, '', 2);
  await until(async () => (await tab.page.getByText('succeeded').count()) > 0);
  await shows('Once upon a time');
  expect(tab.complaints).toEqual([]);
}, 60_000);

test('Try shows how far a run is, and its output as it grows', async () => {
  await tab.show('try/acme/text/story');
  await tab.page.locator('textarea').fill('{"hold": true}');
  await tab.click('Submit');
  const story = tab.page.getByRole('link', { name: 'The whole story' });
  const id = (await story.getAttribute('href'))!.split('/').at(-1)!;
  await model.say(id, [{ type: 'progress', value: 0.25 }, delta('Once')]);
  await shows('25 %');
  await shows('Once');
  await model.say(id, [delta(' upon a time')]);
  await shows('Once upon a time');
  await model.answer(id, '');
  await tab.page.getByText('and succeeded').waitFor();
  expect(await tab.text()).not.toContain('25 %');
});
