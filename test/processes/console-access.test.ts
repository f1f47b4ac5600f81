import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { ConsoleTab } from '../support/console-tab.js';
import { type SpawnedService, spawnService, submitTo } from '../support/index.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { until } from '../support/until.js';

let service: SpawnedService;
let proxy: Server;
let browser: Browser;
let below: string;
let key: string;
let id: string;

beforeAll(async () => {
  browser = await launchChromium();
  // The link is for users who start without a database of their own.
  service = await spawnService({ DATA_DIR: join(await temporaryDirectory(), 'data') });
  await until(() => service.output.includes('#link='));
  key = /ns_[\w-]+/.exec(service.output)![0];
  proxy = createServer((request, response) => {
    if (!request.url!.startsWith('/queue/')) return void response.writeHead(404).end();
    const onward = send(
      service.url + request.url!.slice('/queue'.length),
      { method: request.method, headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode!, answer.rawHeaders);
        answer.pipe(response);
      },
    );
    response.on('close', () => onward.destroy());
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  below = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/queue`;
  ({ request_id: id } = await submitTo(service.url, key, 'demo/text/echo', { prompt: 'a secret' }));
});

afterAll(async () => {
  await browser.close();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

test('the link of the first start signs in once, behind the path of a proxy, and only after a click', async () => {
  const link = below + /\/console#link=\S+/.exec(service.output)![0];
  const [first, second] = [await ConsoleTab.open(browser, below), await ConsoleTab.open(browser, below)];
  for (const { page } of [first, second]) {
    await page.goto(link);
    await page.getByText('This link signs you in once.').waitFor();
  }
  await first.click('Sign in');
  await first.page.getByRole('navigation', { name: 'Views' }).waitFor();
  expect(first.page.url()).toBe(`${below}/console`);
  await second.click('Sign in');
  await second.page.getByText('This link was already used').waitFor();

  for (const name of ['Requests', 'Try', 'Keys', 'Nodes', 'Webhooks', 'Audit', 'Overview']) {
    await first.page.getByRole('link', { name, exact: true }).click();
    await first.settled();
    expect(await first.page.getByRole('alert').count()).toBe(0);
  }
  await first.show(`requests/${id}`);
  await until(async () => (await first.text()).includes('a secret'));
  await first.show('models/demo/text/echo');
  expect([first.strangers(), first.complaints]).toEqual([[], []]);
  await first.page.getByRole('button', { name: 'bootstrap' }).click();
  await first.page.getByRole('button', { name: 'Sign out' }).click();
  await first.page.getByLabel('API key').waitFor();
  await Promise.all([first.close(), second.close()]);
});

test('a key that may only look can press nothing, and never asks for a payload or an id', async () => {
  const made = await fetch(`${service.url}/v1/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Key ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'looker', scopes: ['observe'] }),
  });
  const tab = await ConsoleTab.open(browser, service.url);
  await tab.signIn(((await made.json()) as { key: string }).key);
  const acts =
    /^(Pause|Concurrency|Reload models|Cancel|Retry|Erase|Create|Change|Revoke|Drain|Submit|Disable|Send again)/;
  let seen = 0;
  for (const view of [
    '',
    'models/demo/text/echo',
    'requests',
    'try/demo/text/echo',
    'nodes',
    'webhooks',
    'keys',
  ]) {
    await tab.show(view);
    for (const button of await tab.page.locator('main').getByRole('button', { name: acts }).all()) {
      seen++;
      expect([view, await button.innerText(), await button.isDisabled()]).toEqual([
        view,
        expect.anything(),
        true,
      ]);
    }
  }
  expect(seen).toBeGreaterThan(8);
  await tab.show('requests');
  await tab.page.locator('main tbody a.id').first().click();
  await tab.settled();
  for (const name of ['Output', 'Input', 'Log']) {
    await tab.page.getByRole('tab', { name }).click();
    await tab.page.getByText('needs the scope “payloads”').waitFor();
  }
  expect(await tab.page.content()).not.toContain(id);
  expect(await tab.page.content()).not.toContain('a secret');
  expect(tab.asked.filter((url) => /\/(response|input|log|picture)\b/.test(url))).toEqual([]);
  expect(await tab.findings()).toEqual([]);
  await tab.close();
});

test('a key without the scope to look is told which one it needs', async () => {
  const made = await fetch(`${service.url}/v1/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Key ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'caller', scopes: ['submit', 'read'] }),
  });
  const tab = await ConsoleTab.open(browser, service.url);
  await tab.page.goto(`${service.url}/console`);
  await tab.page.getByLabel('API key').fill(((await made.json()) as { key: string }).key);
  await tab.click('Sign in');
  await tab.page
    .getByText(/“observe”/)
    .first()
    .waitFor();
  await tab.close();
});
