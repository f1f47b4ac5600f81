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
  await tab.page.route('**/health/ready', (route) => route.abort());
  await tab.page.clock.fastForward(31_000);
  await lost().waitFor();
  await tab.page.clock.fastForward(31_000);
  await tab.page.unroute('**/health/ready');
  await tab.page.unroute('**/v1/admin/events');
  await tab.page.clock.fastForward(60_000);
  await lost().waitFor({ state: 'detached' });
});

test('a stream that does not open while the service answers makes only the figures old', async () => {
  await tab.show('');
  await tab.page.getByText('No requests running or waiting').waitFor();
  await tab.page.route('**/v1/admin/events', () => {});
  await tab.page.clock.fastForward(31_000);
  await tab.page.getByText('This page gets no figures').waitFor();
  expect(await tab.page.getByRole('button', { name: 'Pause…' }).isEnabled()).toBe(true);
  await tab.page.unroute('**/v1/admin/events');
  await tab.page.clock.fastForward(60_000);
  await tab.page.getByText('This page gets no figures').waitFor({ state: 'detached' });
});

test('a stream that ends and opens again is no loss of the service', async () => {
  const body = `event: overview\ndata: ${JSON.stringify({ at: new Date(), models: [], nodes: [] })}\n\n`;
  const from = tab.asked.length;
  await tab.page.route(
    '**/v1/admin/events',
    (route) => route.fulfill({ contentType: 'text/event-stream', body }),
    { times: 1 },
  );
  await tab.show('nodes');
  await tab.page.getByText('1 node · ready').waitFor();
  const asked = tab.asked.slice(from).map((url) => new URL(url).pathname);
  expect(asked.filter((path) => path === '/v1/admin/events')).toHaveLength(2);
  // The page asks for the health when it has lost the service.
  expect(asked).not.toContain('/health/ready');
});

test('the rows of a list are not read again after an outage, except those that could not be read', async () => {
  const rows = '**/v1/admin/requests?limit=50*';
  await calls.run('acme/text/story');
  const outage = async (): Promise<void> => {
    await tab.page.context().setOffline(true);
    await lost().waitFor();
    const again = tab.page.waitForResponse('**/v1/admin/keys?*');
    await tab.page.unroute(rows);
    await tab.page.context().setOffline(false);
    await again;
  };
  await tab.show('requests');
  const from = tab.asked.length;
  await outage();
  expect(tab.asked.slice(from).filter((url) => url.includes('limit=50'))).toEqual([]);
  await tab.page.route(rows, (route) => route.fulfill({ status: 400, body: '{}' }));
  await tab.show('requests');
  await tab.page.getByText('The service answered 400.').waitFor();
  await outage();
  await tab.page.getByRole('region', { name: 'Requests' }).getByText('succeeded').first().waitFor();
});

test('a change that gets no answer fails after a while, and says so', async () => {
  await tab.show('nodes');
  await tab.page.route('**/drain', () => {});
  await tab.click('Drain…');
  const sent = tab.page.waitForRequest('**/drain');
  await tab.click(/^Drain /, 'dialog');
  await sent;
  await tab.page.clock.fastForward(31_000);
  await tab.page.getByText('The service does not answer.').first().waitFor();
  await tab.page.unroute('**/drain');
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
