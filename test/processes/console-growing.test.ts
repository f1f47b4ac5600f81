import type { Browser } from 'playwright-core';
import { Handles } from '../../src/auth/handles.js';
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
  await shows('Attempt 2 started the output again.');
  expect(await tab.text()).not.toMatch(/Twice|50 %/);
  await model.answer(id, '', 2);
  await until(async () => (await tab.page.getByText('succeeded').count()) > 0);
  await shows('Once upon a time');
  expect(tab.complaints).toEqual([]);
});

test('Try shows how far a run is, and its output as it grows', async () => {
  await tab.show('try/acme/text/story');
  await tab.page.locator('textarea').fill('{"hold": true}');
  await tab.click('Submit');
  const story = tab.page.getByRole('link', { name: 'Request details' });
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

test('the log is asked for where it is shown, as that somebody read it is audited', async () => {
  const id = await calls.submit('acme/text/story', { hold: true });
  await model.say(id, [{ type: 'log', message: 'Warming up.' }]);
  const streams = (): string[] => tab.asked.filter((url) => url.includes(`${id}/status/stream`));
  await tab.show(`requests/${id}?tab=input`);
  await until(() => streams().length === 1);
  expect(streams()[0]).not.toContain('logs');
  await tab.page.getByRole('tab', { name: 'Log' }).click();
  await shows('Warming up.');
  await until(() => streams().some((url) => url.endsWith('?logs=1')));
  await model.say(id, [{ type: 'log', message: 'Warm.' }]);
  await shows('Warm.');
  await model.say(id, [{ type: 'output', output: {} }]);
  await model.answer(id, '');
  await shows('succeeded');
  const rows = await service.query(
    `SELECT after FROM audit_entry WHERE action = 'payload.read' AND after ->> 'part' = 'log' AND target = $1`,
    [service.app.get(Handles).handleOf(id)],
  );
  expect(rows).toHaveLength(1);
});
