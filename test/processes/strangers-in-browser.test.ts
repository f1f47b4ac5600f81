import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { startTestService, type TestService, until } from '../support/index.js';

let browser: Browser;
let context: BrowserContext;
let service: TestService;
let stranger: Server;
/** The page that the other origin serves. */
let html = '';
let port: number;

beforeAll(async () => {
  stranger = createServer((_, response) => response.setHeader('content-type', 'text/html').end(html));
  await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done));
  port = (stranger.address() as AddressInfo).port;
  [browser, service] = await Promise.all([
    launchChromium(),
    startTestService({ limits: 'off', config: { corsOrigins: ['*'] } }),
  ]);
});
afterAll(async () => {
  await browser.close();
  stranger.closeAllConnections();
  await new Promise((done) => stranger.close(done));
  await service.stop();
});

/** Signs in as the console does. */
beforeEach(async () => {
  context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${service.url}/docs`);
  expect(await ask(page, 'POST', '/v1/admin/session', { key: service.key })).toBe(200);
  expect(await ask(page, 'POST', '/v1/admin/keys', { name: 'ours' })).toBe(201);
});
afterEach(() => context.close());

/** Calls from the page by fetch. Returns the status, or the page's error. */
function ask(page: Page, method: string, url: string, body?: object): Promise<unknown> {
  const init = {
    method,
    credentials: 'include',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  return page.evaluate(
    `fetch(${JSON.stringify(url)}, ${JSON.stringify(init)}).then(({ status }) => status, ({ name }) => name)`,
  );
}

/** Every call that a page can have a browser send to another origin. */
function attack(): string {
  const keys = `${service.url}/v1/admin/keys`;
  const body = JSON.stringify({ name: 'theirs', scopes: ['admin'] });
  const session = `${service.url}/v1/admin/session`;
  return `
    const told = [];
    const send = (url, init) => fetch(url, { credentials: 'include', ...init }).then(
      ({ type, status }) => told.push(type === 'opaque' ? 'opaque' : status), () => told.push('nothing'));
    const json = { 'content-type': 'application/json' };
    const form = (type, name) => new Promise((done) => {
      const frame = document.createElement('iframe');
      frame.name = 'answer' + Math.random();
      document.body.append(frame);
      const form = document.createElement('form');
      Object.assign(form, { method: 'post', action: ${JSON.stringify(keys)}, enctype: type, target: frame.name });
      const input = document.createElement('input');
      Object.assign(input, { name, value: '' });
      form.append(input);
      document.body.append(form);
      frame.addEventListener('load', done);
      setTimeout(done, 1000);
      form.submit();
    });
    (async () => {
      await send(${JSON.stringify(keys)}, { method: 'POST', headers: json, body: ${JSON.stringify(body)} });
      await send(${JSON.stringify(keys)}, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(body)} });
      await send(${JSON.stringify(keys)}, { method: 'POST', mode: 'no-cors', body: new Blob([${JSON.stringify(body)}], { type: 'application/json' }) });
      navigator.sendBeacon(${JSON.stringify(keys)}, ${JSON.stringify(body)});
      await send(${JSON.stringify(session)}, { method: 'DELETE', headers: json });
      await send(${JSON.stringify(session)}, { method: 'POST', mode: 'no-cors', body: ${JSON.stringify(JSON.stringify({ key: service.key }))} });
      await send(${JSON.stringify(keys)}, {});
      await send(${JSON.stringify(keys)}, { mode: 'no-cors' });
      await form('text/plain', ${JSON.stringify(`${body.slice(0, -1)},"x":"`)});
      await form('application/x-www-form-urlencoded', 'name');
      parent.postMessage({ told }, '*');
      document.title = JSON.stringify(told);
    })();`;
}

test.each([
  [
    'another port of this host',
    () => `http://127.0.0.1:${port}/`,
    (script: string) => `<body><script>${script}</script>`,
  ],
  ['another site', () => `http://localhost:${port}/`, (script: string) => `<body><script>${script}</script>`],
  [
    'a sandboxed frame of our neighbour',
    () => `http://127.0.0.1:${port}/`,
    (script: string) => `<body><script>
      addEventListener('message', ({ data }) => { if (data.told) document.title = JSON.stringify(data.told) });
      const frame = document.createElement('iframe');
      frame.sandbox = 'allow-scripts allow-forms';
      frame.srcdoc = ${JSON.stringify(`<body><script>${script}`)} + '</scr' + 'ipt>';
      document.body.append(frame);
    </script>`,
  ],
])('%s can neither change nor read anything while a user is signed in', async (_, addressOf, pageOf) => {
  html = pageOf(attack());
  const page = await context.newPage();
  await page.goto(addressOf());
  const told = await until(async () => /^\[.*\]$/.exec(await page.title())?.[0], {
    message: 'the attack is over',
  });
  for (const answer of JSON.parse(told) as unknown[]) expect(['nothing', 'opaque']).toContain(answer);
  expect(await service.query(`SELECT name FROM api_key WHERE name = 'theirs'`)).toEqual([]);
  const [own] = context.pages();
  expect(await ask(own!, 'GET', '/v1/admin/keys')).toBe(200);
});

test('a page of another origin cannot show the service in a frame', async () => {
  html = `<body><iframe src="${service.url}/docs"></iframe>`;
  const page = await context.newPage();
  const refused: string[] = [];
  page.on('console', (message) => refused.push(message.text()));
  await page.goto(`http://127.0.0.1:${port}/`);
  await until(() => refused.some((text) => text.includes('frame-ancestors')));
});
