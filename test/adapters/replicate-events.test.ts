import pg from 'pg';
import { AbandonedCalls } from '../../src/adapters/duties/abandoned-calls.js';
import { AdminCalls } from '../support/admin-calls.js';
import { until } from '../support/index.js';
import { keyHeader } from '../support/queue-calls.js';
import { testWebhooks } from '../support/test-webhooks.js';

const { service, calls, model, receiver, hooks } = testWebhooks(
  { adapters: ['replicate'] },
  {
    'test/hook': {},
    'test/one': { concurrency: 1 },
    'test/chat': { runner: { preset: 'openai', path: '/v1/chat/completions' } },
  },
);

interface Prediction {
  id: string;
  status: string;
  output: unknown;
  logs?: string;
  urls: { stream: string };
}

async function create(
  body: object,
  headers: Record<string, string> = {},
  name = 'test/hook',
): Promise<Prediction> {
  const answer = await fetch(`${service.url}/replicate/v1/models/${name}/predictions`, {
    method: 'POST',
    headers: { ...keyHeader(service.key), ...headers },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Prediction;
}

const delta = (value: string): object => ({ type: 'delta', delta: value });
const log = (message: string): object => ({ type: 'log', message });

/** Returns the predictions that arrived at a path, without repetitions. */
const predictionsAt = (path: string): Prediction[] =>
  receiver.at(path).map(({ body }) => JSON.parse(body) as Prediction);

/** The predictions at a path, once one of them fits. */
const arrivedWith = (path: string, fits: (prediction: Prediction) => boolean): Promise<Prediction[]> =>
  until(() => predictionsAt(path).some(fits) && predictionsAt(path), {
    message: `a webhook at ${path} fits`,
    explain: async () => ({
      arrived: predictionsAt(path),
      deliveries: await service.query('SELECT *, now() FROM webhook_delivery WHERE url = $1', [
        receiver.url(path),
      ]),
    }),
  });

test('the output and logs events contain everything that the run has emitted, and the newest is always delivered', async () => {
  const path = hooks.newPath();
  const webhook = { webhook: receiver.url(path), webhook_events_filter: ['output', 'logs'] };
  const { id } = await create({ input: { hold: true }, ...webhook });
  await model.say(id, [delta('one '), log('first')]);
  await arrivedWith(path, ({ output }) => output === 'one ');
  await arrivedWith(path, ({ logs }) => logs === 'first\n');
  for (const word of ['two ', 'three ', 'four']) await model.say(id, [delta(word)]);
  const all = await arrivedWith(path, ({ output }) => output === 'one two three four');
  for (const one of all) expect(one).toMatchObject({ id, status: 'processing' });
  (await model.arrived(id)).response.end();
  await calls.reached(id, 'COMPLETED');
  const events = await service.query<{ event: string; count: number }>(
    'SELECT event, count(*)::integer AS count FROM webhook_delivery WHERE request_id = $1 GROUP BY 1 ORDER BY 1',
    [id],
  );
  // The end is not among the wanted events. A receiver has a row for each other one, which is used again.
  expect(events.map(({ event }) => event)).toEqual(['request.logs', 'request.output']);
  for (const { count } of events) expect(count).toBeLessThanOrEqual(2);
});

test('the output event of a chat has its text and none of its chunks, which do not count as output', async () => {
  hooks.terms.maxPayloadBytes = 1_000;
  const path = hooks.newPath();
  const webhook = { webhook: receiver.url(path), webhook_events_filter: ['output'] };
  const { id } = await create({ input: { hold: true }, ...webhook }, {}, 'test/chat');
  const { response } = await model.arrived(id);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const say = (content: string): void => {
    const chunk = { id: 'x'.repeat(1_000), choices: [{ index: 0, delta: { content } }] };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  say('Hel');
  await arrivedWith(path, ({ output }) => output === 'Hel');
  say('lo');
  const texts = await arrivedWith(path, ({ output }) => output === 'Hello');
  for (const { output } of texts) expect(['Hel', 'Hello']).toContain(output);
  say('y'.repeat(1_000));
  await arrivedWith(path, ({ output }) => output === null);
  response.end('data: [DONE]\n\n');
  await calls.reached(id, 'COMPLETED');
});

test('a webhook without a filter receives the events output and completed only', async () => {
  const path = hooks.newPath();
  const { id } = await create({ input: { hold: true }, webhook: receiver.url(path) });
  await model.say(id, [log('first'), delta('one')]);
  await arrivedWith(path, ({ output }) => output === 'one');
  (await model.arrived(id)).response.end();
  await arrivedWith(path, ({ status }) => status === 'succeeded');
  const events = await service.query<{ event: string }>(
    'SELECT DISTINCT event FROM webhook_delivery WHERE request_id = $1 ORDER BY event',
    [id],
  );
  expect(events).toEqual([{ event: 'request.completed' }, { event: 'request.output' }]);
});

test('Cancel-After counts from the submission, also while the prediction runs', async () => {
  const { id } = await create({ input: { hold: true } }, { 'cancel-after': '1h' });
  const [planned] = await service.query<{ ms: number }>(
    `SELECT extract(epoch FROM cancel_at - created_at)::float8 * 1000 AS ms
     FROM planned_cancel JOIN request ON request.id = request_id WHERE id = $1`,
    [id],
  );
  expect(Math.round(planned!.ms)).toBe(3_600_000);
  await model.arrived(id);
  await service.query(`UPDATE planned_cancel SET cancel_at = now()`);
  await service.app.get(AbandonedCalls).runOnce();
  await calls.reached(id, 'COMPLETED');
  const answer = await service.get(`/replicate/v1/predictions/${id}`, { headers: keyHeader(service.key) });
  expect(await answer.json()).toMatchObject({ status: 'canceled' });
  expect(await service.query('SELECT FROM planned_cancel')).toEqual([]);
});

test('a planned cancel that is interrupted retains its row, and the next round cancels the request', async () => {
  const duty = service.app.get(AbandonedCalls);
  const running = await calls.submit('test/one', { hold: true });
  await model.arrived(running);
  const waiting = await calls.submit('test/one');
  await service.query(
    `INSERT INTO abandoned_call (request_id, api_key_id, fingerprint, cancel_at)
     SELECT id, api_key_id, '', now() FROM request WHERE id = $1`,
    [waiting],
  );
  const blocker = new pg.Client({ connectionString: service.databaseUrl });
  blocker.on('error', () => undefined);
  await blocker.connect();
  await blocker.query('BEGIN');
  await blocker.query('SELECT FROM queue_entry WHERE request_id = $1 FOR UPDATE', [waiting]);
  const round = duty.runOnce().then(
    () => 'done',
    () => 'broken',
  );
  // The node is lost between the note and the cancel.
  await until(async () => {
    const killed = await service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock' AND application_name = 'nowserving'`,
    );
    return killed.length > 0;
  });
  expect(await round).toBe('broken');
  await blocker.end();
  expect((await calls.status(waiting)).status).toBe('IN_QUEUE');
  expect(await service.query('SELECT FROM abandoned_call')).toHaveLength(1);
  await duty.runOnce();
  expect(await calls.status(waiting)).toMatchObject({ status: 'COMPLETED', error: { code: 'cancelled' } });
  expect(await service.query('SELECT FROM abandoned_call')).toEqual([]);
  await model.answer(running);
});

interface StreamEvent {
  type: string;
  /** The place that an EventSource would send if it connected again now. */
  place: string;
  data: string;
}

/** Returns the events of a stream until one fits, read as an EventSource reads them. */
async function streamed(
  url: string,
  fits: (event: StreamEvent) => boolean,
  place = '',
): Promise<StreamEvent[]> {
  const controller = new AbortController();
  const headers: Record<string, string> = place === '' ? {} : { 'last-event-id': place };
  const answer = await fetch(url, { headers, signal: controller.signal });
  expect(answer.status).toBe(200);
  const events: StreamEvent[] = [];
  let text = '';
  for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end; (end = text.indexOf('\n\n')) !== -1; text = text.slice(end + 2)) {
      const lines = text.slice(0, end).split('\n');
      const valueOf = (name: string): string | undefined =>
        lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const type = valueOf('event');
      if (type === undefined) continue;
      // The client for Python drops events before the first id, and then mixes them with the next one.
      expect(valueOf('id')).toBeDefined();
      events.push({ type, place: valueOf('id')!, data: valueOf('data')! });
      if (!fits(events.at(-1)!)) continue;
      controller.abort();
      return events;
    }
  }
  return events;
}

test('a stream continues where it broke off, whatever its last event was, and ends once', async () => {
  const { id, urls } = await create({ input: { hold: true } });
  const url = urls.stream;
  await model.say(id, [log('first')]);
  const [begun] = await streamed(url, ({ type }) => type === 'logs');
  expect(begun).toMatchObject({ data: 'first', place: '' });
  await model.say(id, [delta('one '), delta('two ')]);
  await streamed(url, ({ data }) => data === 'two ');
  // A stream that continues has only the lines that are said after it was opened.
  let said: Promise<unknown> | undefined;
  const saysSecond = ({ data }: { data: string }): boolean => {
    if (data === 'two ') said = model.say(id, [log('second')]);
    return data === 'second';
  };
  const before = await streamed(url, saysSecond, begun!.place);
  await said;
  const after = streamed(url, () => false, before.findLast(({ type }) => type === 'logs')!.place);
  await model.say(id, [delta('three')]);
  (await model.arrived(id)).response.end();
  const rest = await after;
  const outputs = [...before, ...rest].filter(({ type }) => type === 'output');
  expect(outputs.map(({ data }) => data)).toEqual(['one ', 'two ', 'three']);
  expect(rest.at(-1)).toMatchObject({ type: 'done', data: '{}' });
  expect((await fetch(url, { headers: { 'last-event-id': rest.at(-1)!.place } })).status).toBe(204);
});

test('the URL of a stream is enough in a browser that is signed in to the console with another key', async () => {
  const { id, urls } = await create({ input: {} });
  await calls.reached(id, 'COMPLETED');
  const admin = new AdminCalls(service);
  const { key } = await admin.newKey({ scopes: ['observe', 'read'] });
  const cookie = await admin.cookie(key);
  const answer = await fetch(urls.stream, { headers: { cookie } });
  expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('event: done')]);
  // Without the signature the session counts, and with a key that the client sends itself the key does.
  expect((await fetch(urls.stream.split('?')[0]!, { headers: { cookie } })).status).toBe(404);
  expect((await fetch(urls.stream, { headers: keyHeader(key) })).status).toBe(404);
});
