import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({ models: { 'acme/text/story': {} }, limits: 'off' });
let browser: Browser;
let tab: ConsoleTab;

const lost = () => tab.page.getByText('No connection to the service.');

/** A request completes while the tab that shows it has no network. */
async function completedOffline(): Promise<void> {
  const id = await calls.submit('acme/text/story', { hold: true });
  await model.arrived(id);
  await tab.show(`requests/${id}`);
  await tab.page.getByText('It has been running').waitFor();
  await tab.page.context().setOffline(true);
  await lost().waitFor();
  await model.answer(id, '{}');
  await calls.reached(id, 'COMPLETED');
}

beforeAll(async () => {
  browser = await launchChromium();
  tab = await ConsoleTab.open(browser, service.url);
  await tab.page.clock.install();
  await tab.signIn(service.key);
});
afterAll(() => browser.close());

test('a connection that has gone silent is called lost, and goes on by itself', async () => {
  await tab.show('');
  await tab.page.getByText('No requests running or waiting').waitFor();
  // From now on the call is never answered, neither with an error nor with an end.
  await tab.page.route('**/v1/admin/events', () => {});
  await tab.page.clock.fastForward(31_000);
  await lost().waitFor();
  await tab.page.clock.fastForward(31_000);
  await tab.page.unroute('**/v1/admin/events');
  await tab.page.clock.fastForward(60_000);
  await lost().waitFor({ state: 'detached' });
});

test('a browser that has no network says so, and follows again as soon as it has', async () => {
  await completedOffline();
  await tab.page.context().setOffline(false);
  await lost().waitFor({ state: 'detached' });
  await tab.page.getByText('and succeeded').waitFor();
});

test('a request that completed while the connection was lost is shown so, even if its stream stays silent', async () => {
  await completedOffline();
  await tab.page.route('**/status/stream*', () => {});
  await tab.page.context().setOffline(false);
  await tab.page.getByText('and succeeded').waitFor();
  await tab.page.unroute('**/status/stream*');
});
