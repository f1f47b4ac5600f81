import { runInNewContext } from 'node:vm';
import { EventSource } from 'eventsource';
import { until } from '../support/index.js';
import { readPage } from '../support/page-examples.js';
import type { Status } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, model } = testQueue({ models: { 'test/held': { concurrency: 1 } } });
/** The answer to each connection of an EventSource. */
let answers: { status: number; lastEventId: string | undefined }[];

beforeAll(() => void model.hold());
beforeEach(() => (answers = []));

const submit = async (): Promise<{ request_id: string; status_url: string }> =>
  (await (await service.submit('test/held', {})).json()) as { request_id: string; status_url: string };

interface Followed {
  source: EventSource;
  seen: Status[];
}

function follow(url: string): Followed {
  const source = new EventSource(url, {
    fetch: async (target, init) => {
      const response = await fetch(target, init);
      const headers = new Headers(init.headers);
      answers.push({ status: response.status, lastEventId: headers.get('last-event-id') ?? undefined });
      return response;
    },
  });
  const seen: Status[] = [];
  source.addEventListener('message', ({ data }) => seen.push(JSON.parse(data as string) as Status));
  return { source, seen };
}

const closed = ({ source }: Followed): Promise<true> =>
  until(() => source.readyState === EventSource.CLOSED, { message: 'the EventSource stops by itself' });

test('the eventsource package follows a request from its position to its end, and stops', async () => {
  const blocker = await submit();
  await until(() => model.times(blocker.request_id) === 1);
  const { request_id: id, status_url: url } = await submit();
  const followed = follow(`${url}/stream?logs=1`);
  await until(() => followed.seen.length > 0);
  expect(followed.seen[0]).toMatchObject({ status: 'IN_QUEUE', queue_position: 0, logs: [] });
  await model.answer(blocker.request_id);
  await until(() => model.times(id) === 1 && followed.seen.at(-1)!.status === 'IN_PROGRESS');
  await model.answer(id);
  await closed(followed);
  expect(followed.seen.at(-1)).toMatchObject({ status: 'COMPLETED', success: true });
  expect(answers.map(({ status }) => status)).toEqual([200, 204]);
  expect(answers[1]!.lastEventId).toMatch(/^\d+$/);
});

test('the eventsource package reconnects after its connection breaks, and sees the end once', async () => {
  const { request_id: id, status_url: url } = await submit();
  await until(() => model.times(id) === 1);
  const followed = follow(`${url}/stream?logs=1`);
  await until(() => followed.seen.length === 1);
  service.app.getHttpServer().closeAllConnections();
  await until(() => answers.length === 2);
  await model.answer(id);
  await closed(followed);
  expect(followed.seen.map(({ status }) => status).filter((status) => status === 'COMPLETED')).toHaveLength(
    1,
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 204]);
});

test('an unknown request ends an EventSource at once', async () => {
  const followed = follow(`${service.url}/v1/queue/requests/nobody-knows-it/status/stream`);
  await closed(followed);
  expect([answers.map(({ status }) => status), followed.seen]).toEqual([[404], []]);
});

/**
 * Runs the block of a page that opens an EventSource as the script of a page, where pauses take no time. `refusals` are
 * answered first.
 */
function runExample(page: string, variables: object): { urls: string[]; refusals: number[] } {
  const blocks = [...readPage(page).matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code!);
  const code = blocks.find((block) => block.includes('new EventSource'))!;
  const urls: string[] = [];
  const refusals = [502, 403, 503];
  class Refused extends EventSource {
    constructor(url: string) {
      super(url, {
        fetch: async (target, init) => {
          const refusal = refusals.shift();
          return refusal === undefined ? fetch(target, init) : new Response('', { status: refusal });
        },
      });
      urls.push(url.slice(service.url.length));
    }
  }
  const setTimeout = (call: () => void): void => void setImmediate(call);
  runInNewContext(code, { EventSource: Refused, fetch, setTimeout, ...variables });
  return { urls, refusals };
}

test('the example of calling.md reconnects after answers that end an EventSource', async () => {
  const { request_id: id, status_url: statusUrl } = await submit();
  await until(() => model.times(id) === 1);
  const log = { textContent: 'before' };
  const shown: unknown[] = [];
  const complain = (why: string): number => shown.push(why);
  const show = (output: unknown): number => shown.push(output);
  const { urls } = runExample('docs/calling.md', { statusUrl, log, show, complain });
  await until(() => log.textContent === '');
  await model.say(id, [{ type: 'log', message: 'one' }]);
  await until(() => log.textContent === 'one\n');
  await model.say(id, [{ type: 'output', output: 'done' }]);
  await until(() => shown.length > 0);
  expect([shown, log.textContent]).toEqual([['done'], 'one\n']);
  expect(urls).toHaveLength(4);
});

test('the example of streaming-output.md reconnects after answers that end an EventSource, without repeated text', async () => {
  const { request_id: id } = await submit();
  await until(() => model.times(id) === 1);
  const text = { textContent: '' };
  const responseUrl = `${service.url}/v1/queue/requests/${id}`;
  const { urls, refusals } = runExample('docs/streaming-output.md', { responseUrl, text });
  await model.say(id, [{ type: 'delta', delta: 'Once' }]);
  await until(() => text.textContent === 'Once');
  refusals.push(502, 403);
  service.app.getHttpServer().closeAllConnections();
  await until(() => refusals.length === 0);
  await model.say(id, [{ type: 'delta', delta: ' upon' }]);
  await until(() => text.textContent !== 'Once');
  expect(text.textContent).toBe('Once upon');
  expect(urls.map((url) => new URL(url, service.url).search)).toEqual([
    ...Array<string>(4).fill('?starting_after='),
    ...Array<string>(2).fill('?starting_after=1.1'),
  ]);
  await model.say(id, [{ type: 'output', output: 'done' }]);
});
