import { createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../support/chromium.js';
import { packClient, UserProject } from '../support/client-package.js';
import { startTestService, type TestService } from '../support/index.js';

let browser: Browser;
let pages: Server;
let page: Page;
let service: TestService;

beforeAll(async () => {
  const { directory } = await UserProject.with(await packClient(), {});
  const modules = join(directory, 'node_modules/nowserving/dist/esm');
  pages = createServer((request, response) => {
    const file = /^\/nowserving\/([\w-]+\.js)$/.exec(request.url ?? '')?.[1];
    if (file === undefined)
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
    else
      void readFile(join(modules, file)).then((code) =>
        response.setHeader('content-type', 'text/javascript').end(code),
      );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  [browser, service] = await Promise.all([
    launchChromium(),
    startTestService({ config: { corsOrigins: [origin] } }),
  ]);
  page = await browser.newPage();
  await page.goto(origin);
  await page.addScriptTag({
    type: 'module',
    content: `import * as nowserving from '/nowserving/index.js'; globalThis.nowserving = nowserving;`,
  });
  await page.waitForFunction('globalThis.nowserving !== undefined');
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  pages.closeAllConnections();
  await new Promise((resolve) => pages.close(resolve));
});

/** The package as the page loads it. */
type Nowserving = typeof import('../../clients/typescript/src/index.js');
declare const nowserving: Nowserving;

test('a page runs a request at a service of another origin', async () => {
  const result = await page.evaluate(
    ([url, key]) =>
      nowserving.createClient({ url: url!, key: key! }).run('demo/text/echo', { input: { text: 'page' } }),
    [service.url, service.key],
  );
  expect(result).toMatchObject({ output: { text: 'page' }, status: { success: true } });
});

test('a page follows a drawing by the stream, with its log', async () => {
  const { updates, types } = await page.evaluate(
    async ([url, key]) => {
      const types: (string | null)[] = [];
      const fetch: typeof globalThis.fetch = async (target, init) => {
        const answer = await globalThis.fetch(target, init);
        types.push(answer.headers.get('content-type'));
        return answer;
      };
      const queue = nowserving.createClient({ url: url!, key: key!, fetch });
      const input = { prompt: 'a page', width: 64, height: 64 };
      const updates = [];
      for await (const update of queue.subscribe('demo/image/fractal', { input, logs: true }))
        updates.push(update);
      return { updates, types };
    },
    [service.url, service.key],
  );
  expect(updates.at(-1)).toMatchObject({ status: 'COMPLETED', success: true });
  expect(updates.flatMap(({ logs = [] }) => logs).length).toBeGreaterThan(0);
  expect(types).toEqual([expect.stringContaining('json'), expect.stringContaining('text/event-stream')]);
});

test('a page reads errors and aborts a call', async () => {
  const said = await page.evaluate(
    async ([url, key]) => {
      const queue = nowserving.createClient({ url: url!, key: key! });
      const failureOf = (call: Promise<unknown>) =>
        call.catch(
          (error: unknown) => error instanceof nowserving.NowServingError && [error.code, error.status],
        );
      const input = { prompt: 'a page', width: 1024, height: 1024 };
      const signal = AbortSignal.timeout(500);
      return [
        await failureOf(queue.submit('demo/none', { input: {} })),
        await failureOf(queue.run('demo/image/fractal', { input, signal, cancelOnAbort: true })),
      ];
    },
    [service.url, service.key],
  );
  expect(said).toEqual([
    ['unknown_model', 404],
    ['aborted', undefined],
  ]);
});

test('a page verifies a webhook', async () => {
  const secret = randomBytes(24);
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const body = '{"request_id":"r1"}';
  const signature = createHmac('sha256', secret).update(`m1.${timestamp}.${body}`).digest('base64');
  const headers = {
    'webhook-id': 'm1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  const event = await page.evaluate((args) => nowserving.verifyWebhook(...args), [
    body,
    headers,
    `whsec_${secret.toString('base64')}`,
  ] as const);
  expect(event).toEqual({ request_id: 'r1' });
});
