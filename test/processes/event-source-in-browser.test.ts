import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { startTestService, type TestService } from '../support/index.js';
import type { Status } from '../support/queue-calls.js';
import { launchChromium } from '../support/chromium.js';

let browser: Browser;
let elsewhere: Server;
let service: TestService;
let origin: string;

beforeAll(async () => {
  elsewhere = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>'),
  );
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  [browser, service] = await Promise.all([
    launchChromium(),
    startTestService({ config: { corsOrigins: [origin] } }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await service.stop();
  elsewhere.closeAllConnections();
  await new Promise((resolve) => elsewhere.close(resolve));
});

/**
 * Does what page scripts do: submits with a key and follows the stream without one, until the EventSource is closed.
 */
async function followInPage(page: Page) {
  return page.evaluate(
    async ({ url, key }) => {
      const submitted = await fetch(`${url}/v1/queue/demo/image/fractal`, {
        method: 'POST',
        headers: { authorization: `Key ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: 'a page', width: 64, height: 64 }),
      });
      const { status_url: statusUrl } = (await submitted.json()) as { status_url: string };
      const source = new EventSource(`${statusUrl}/stream?logs=1`);
      const seen: { status: string }[] = [];
      source.addEventListener('message', ({ data }) => seen.push(JSON.parse(data as string) as Status));
      await new Promise<void>((resolve) => {
        source.addEventListener('error', () => {
          if (source.readyState === EventSource.CLOSED) resolve();
        });
      });
      return {
        statuses: seen.map(({ status }) => status),
        last: seen.at(-1) as Status,
        readyState: source.readyState,
      };
    },
    { url: service.url, key: service.key },
  );
}

/** Counts how often each stream of the service was opened, and records how that was answered. */
function streamAnswers(): { statuses: number[]; stop(): void } {
  const statuses: number[] = [];
  const note = (
    { url, method }: IncomingMessage,
    response: { once(event: 'close', then: () => void): void; statusCode: number },
  ): void => {
    if (method === 'GET' && url?.includes('/status/stream') === true) {
      response.once('close', () => statuses.push(response.statusCode));
    }
  };
  const server: Server = service.app.getHttpServer();
  server.on('request', note);
  return { statuses, stop: () => server.off('request', note) };
}

test.each([
  ['of the service itself', () => `${service.url}/docs`],
  ['of an origin in CORS_ORIGINS', () => origin],
])(
  'an EventSource in a page %s follows a drawing to its end and then stops by itself',
  async (_name, url) => {
    const page = await browser.newPage();
    await page.goto(url());
    const answers = streamAnswers();
    const { statuses, last, readyState } = await followInPage(page);
    answers.stop();
    expect(readyState).toBe(2); // CLOSED
    expect(last).toMatchObject({ status: 'COMPLETED', success: true });
    expect(statuses.filter((status) => status === 'COMPLETED')).toHaveLength(1);
    expect(answers.statuses).toEqual([200, 204]);
    await page.close();
  },
);

test('a page of an origin that is not in CORS_ORIGINS cannot submit', async () => {
  const page = await browser.newPage();
  await page.goto(origin.replace('127.0.0.1', 'localhost'));
  const said = await page.evaluate(
    ({ url, key }) => {
      const init = { method: 'POST', headers: { authorization: `Key ${key}` }, body: '{}' };
      return fetch(`${url}/v1/queue/demo/text/echo`, init).catch(() => 'refused');
    },
    { url: service.url, key: service.key },
  );
  expect(said).toBe('refused');
  expect(await service.query('SELECT id FROM request WHERE model_id = $1', ['demo/text/echo'])).toEqual([]);
  await page.close();
});
