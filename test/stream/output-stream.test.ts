import type { Server } from 'node:http';
import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { OutputSources } from '../../src/queue/reads/output-sources.js';
import { QueueEvents } from '../../src/queue/queue-events.js';
import { createTestDatabase, startTestService, type TestDatabase, until } from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { type OutputStreamReader, readOutputStream, wordOf } from '../support/output-stream.js';
import { ageOutput } from '../support/output-tables.js';
import { QueueCalls, unknownId, verdict } from '../support/queue-calls.js';

const bootstrapApiKey = 'a-key-that-both-nodes-know';
const model = new ModelServer();
let database: TestDatabase;
/** The first node runs requests, the second only serves calls. */
let here: QueueCalls, there: QueueCalls;

beforeAll(async () => {
  await model.start();
  database = await createTestDatabase();
  const models = model.file({ 'test/model': { concurrency: 20 }, 'test/again': { attempts: 3 } });
  const start = async (role: 'all' | 'api'): Promise<QueueCalls> => {
    const config = { databaseUrl: database.url, bootstrapApiKey, role };
    return new QueueCalls(await startTestService({ models, config, limits: '1000/s' }));
  };
  here = await start('all');
  there = await start('api');
});
afterAll(async () => {
  model.release();
  for (const { service } of [there, here]) await service.stop();
  await model.stop();
  await database.drop();
});
afterEach(async () => {
  for (const { service } of [here, there]) await until(() => service.app.get(OutputSources).size === 0);
});

const open = (calls: QueueCalls, id: string, lastEventId = ''): Promise<OutputStreamReader> =>
  readOutputStream(`${calls.service.url}${calls.path(id)}/output/stream`, lastEventId);
const delta = (value: unknown): object => ({ type: 'delta', delta: value });
const line = (value: object): string => `${JSON.stringify(value)}\n`;
const output = line({ type: 'output', output: { text: 'whole' } });
const said = (...deltas: unknown[]): object => ({
  type: 'application/x-ndjson',
  body: deltas.map((one) => line(delta(one))).join(''),
});

test('a stream sends each part as it is emitted, on both nodes, then done, and closes', async () => {
  const id = await here.submit('test/model', { hold: true });
  const readers = [await open(here, id), await open(there, id)];
  await model.say(id, [delta('Once')]);
  for (const reader of readers) await reader.has(1);
  await model.say(id, [delta({ upon: 1 }), delta('a'), delta(' time')]);
  for (const reader of readers) await until(() => reader.deltas.length >= 3);
  await model.answer(id, '');
  for (const reader of readers) {
    await reader.ended;
    expect(reader.words).toEqual(['0 "Once"', '1 {"upon":1}', '2 "a time"', 'done true']);
    expect(reader.response.headers).toMatchObject({
      'content-type': expect.stringMatching(/^text\/event-stream/),
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
  }
  expect(await (await here.response(id)).json()).toEqual(['Once', { upon: 1 }, 'a time']);
});

test("a stream has every part, even if the database's clock was set back during the run", async () => {
  const id = await here.submit('test/model', { hold: true });
  await until(async () => (await here.status(id)).status === 'IN_PROGRESS');
  await here.service.query(
    `UPDATE request SET started_at = started_at + interval '4 minutes' WHERE id = $1`,
    [id],
  );
  const reader = await open(there, id);
  await model.say(id, [delta('Once')]);
  await reader.has(1);
  await model.answer(id, '');
  await reader.ended;
  expect(reader.words).toEqual(['0 "Once"', 'done true']);
});

test('a stream resumes from any event id, on the other node and after the end, without gap or repetition', async () => {
  const id = await here.submit('test/model', { hold: true });
  const first = await open(here, id);
  for (let part = 0; part < 6; part++) {
    await model.say(id, [delta({ part })]);
    await first.has(part + 1);
  }
  const resumed = await Promise.all(first.events.map((event) => open(there, id, event.id)));
  await model.say(id, [delta({ part: 6 })]);
  await model.answer(id, '');
  await first.ended;
  const all = first.words;
  expect(all).toHaveLength(8);
  for (const [seen, reader] of resumed.entries()) {
    await reader.ended;
    expect(reader.words).toEqual(all.slice(seen + 1));
  }
  for (const [seen, event] of first.events.entries()) {
    const query = await there.service.get(`${there.path(id)}/output/stream?starting_after=${event.id}`);
    if (event.event === 'done') expect([query.status, await query.text()]).toEqual([204, '']);
    else {
      await query.text();
      const again = await open(there, id, event.id);
      await again.ended;
      expect(again.words).toEqual(all.slice(seen + 1));
    }
  }
});

test('a new attempt sends a reset to open readers and to readers that resume from the old attempt', async () => {
  const retry = { status: 500, headers: { 'retry-after': '0' } };
  const id = await here.submit('test/again', { attempts: [{ hold: true }, retry, { hold: true }] });
  const reader = await open(there, id);
  await model.say(id, [delta('wrong')]);
  await reader.has(1);
  const { lastEventId } = reader;
  await model.say(id, [{ type: 'error', message: 'no', retryable: true }]);
  await model.arrived(id, 3);
  await model.say(id, [delta('right')], 3);
  await until(() => reader.deltas.join() === 'right');
  const back = await open(here, id, lastEventId);
  await until(() => back.deltas.join() === 'right');
  await model.answer(id, '', 3);
  for (const each of [reader, back]) await each.ended;
  expect(back.words).toEqual(['reset 3', '0 "right"', 'done true']);
  expect(reader.words.filter((word) => word !== 'reset 2')).toEqual(['0 "wrong"', ...back.words]);
  // A reset that was seen is not sent again.
  const afterReset = await open(there, id, back.events[0]!.id);
  await afterReset.ended;
  expect(afterReset.words).toEqual(['0 "right"', 'done true']);
});

test('a reader that resumes in a new attempt gets no reset from a node that has not learned of the attempt', async () => {
  const id = await here.submit('test/again', { hold: true });
  const behind = await open(there, id);
  await model.say(id, [delta('wrong')]);
  await behind.has(1);
  const events = there.service.app.get(QueueEvents);
  events.publish = () => undefined;
  let resumed: OutputStreamReader;
  try {
    await model.say(id, [{ type: 'error', message: 'no', retryable: true }]);
    await model.arrived(id, 2);
    await model.say(id, [delta('right')], 2);
    const ahead = await open(here, id);
    await ahead.has(1);
    expect(ahead.words).toEqual(['0 "right"']);
    resumed = await open(there, id, ahead.lastEventId);
    await ahead.drop();
  } finally {
    Reflect.deleteProperty(events, 'publish');
  }
  events.publish({ missed: true }, 'elsewhere');
  await model.answer(id, '', 2);
  for (const reader of [behind, resumed]) await reader.ended;
  expect(resumed.words).toEqual(['done true']);
  expect(behind.words).toEqual(['0 "wrong"', 'reset 2', '0 "right"', 'done true']);
});

test('a request without parts has its whole output in one event, as it was written', async () => {
  const body = '{ "seed": 12345678901234567890,\n "n": 1.0 }';
  const id = await here.submit('test/model', { hold: true });
  const waiting = await open(there, id);
  await model.answer(id, body);
  await waiting.ended;
  const text = await (await here.service.get(`${here.path(id)}/output/stream`)).text();
  expect(text).toContain('data: {"index":0,"delta":{ "seed": 12345678901234567890,\ndata:  "n": 1.0 }}\n\n');
  expect(waiting.words).toEqual([wordOf(waiting.events[0]!), 'done true']);
  const again = await open(here, id, waiting.events[0]!.id);
  await again.ended;
  expect(again.words).toEqual(['done true']);
});

test('the stream of a failed or cancelled request contains the emitted parts, and its done event reports no response', async () => {
  const failed = await here.submit('test/model', said('half', 1));
  await here.reached(failed, 'COMPLETED');
  const bad = await here.submit('test/model', {
    type: 'application/x-ndjson',
    body: line(delta('half')) + line({ type: 'error', message: 'no' }),
  });
  const ofBad = await open(there, bad);
  await ofBad.ended;
  expect(ofBad.words).toEqual(['0 "half"', 'done false']);
  const cancelled = await here.submit('test/model?delay=1h');
  const reader = await open(there, cancelled);
  await there.cancel(cancelled);
  await reader.ended;
  expect(reader.words).toEqual(['done false']);
});

test('an output line takes precedence over the parts, and the stream still contains the parts', async () => {
  const id = await here.submit('test/model', {
    type: 'application/x-ndjson',
    body: line(delta('draft')) + output,
  });
  expect(await (await here.response(id)).json()).toEqual({ text: 'whole' });
  const reader = await open(here, id);
  await reader.ended;
  expect(reader.words).toEqual(['0 "draft"', 'done true']);
});

test('a closed stream cancels nothing, and all readers of a request on a node share one source', async () => {
  const id = await here.submit('test/model', { hold: true });
  const readers = await Promise.all(Array.from({ length: 10 }, () => open(there, id)));
  await model.say(id, [delta(1)]);
  for (const reader of readers) await reader.has(1);
  expect(there.service.app.get(OutputSources).size).toBe(1);
  for (const reader of readers) await reader.drop();
  await until(() => there.service.app.get(OutputSources).size === 0);
  await model.answer(id, '');
  expect(await here.reached(id, 'COMPLETED')).toMatchObject({ success: true });
});

test.each(['x', '1', '1.', '-1.2', '1.2.3', '01234567890.1', '1.all', '%00'])(
  '%j is not a valid event id',
  async (id) => {
    const path = `${here.path(unknownId())}/output/stream`;
    const byQuery = await here.service.get(`${path}?starting_after=${id}`);
    expect(await verdict(byQuery)).toEqual([400, 'invalid_query']);
    if (id === '%00') return;
    const byField = await here.service.get(path, { headers: { 'last-event-id': id } });
    expect(await verdict(byField)).toEqual([400, 'bad_request']);
  },
);

test('an id that no stream of the request can have sent is refused', async () => {
  const id = await here.submit('test/model', { hold: true });
  await model.say(id, [delta('a')]);
  const first = await open(here, id);
  await first.has(1);
  const path = `${there.path(id)}/output/stream`;
  const refused = async (place: string): Promise<void> => {
    const headers = { 'last-event-id': place };
    expect(await verdict(there.service.get(path, { headers }))).toEqual([400, 'bad_request']);
    const byQuery = there.service.get(`${path}?starting_after=${place}`);
    expect(await verdict(byQuery)).toEqual([400, 'invalid_query']);
  };
  for (const place of ['0.1', '2.0', '9.9', '1.done', '1.whole']) await refused(place);
  await model.answer(id, '');
  await first.ended;
  for (const place of ['0.done', '2.done', '2.1']) await refused(place);
});

test('an event id of a missing part causes a reset and all parts from the beginning', async () => {
  const id = await here.submit('test/model', { hold: true });
  await model.say(id, [delta('a')]);
  const first = await open(here, id);
  await first.has(1);
  const reader = await open(there, id, '1.7');
  await until(() => reader.words.join() === 'reset 1,0 "a"');
  await model.answer(id, '');
  for (const each of [first, reader]) await each.ended;
});

test('after the parts are deleted, a reader gets the whole output, with a reset if it had some parts', async () => {
  const id = await here.submit('test/model', said('Once', 1, ' upon'));
  await here.reached(id, 'COMPLETED');
  const before = await open(here, id);
  await before.ended;
  const running = await here.submit('test/model', { hold: true });
  await model.say(running, [delta('goes on')]);
  await here.reached(running, 'IN_PROGRESS');
  const ofRunning = await open(here, running);
  await ofRunning.has(1);
  await ageOutput(here.service, id);
  await here.service.query(`UPDATE lease SET started_at = now() - interval '2 hours'`);
  const pruner = here.service.app.get(Pruner);
  const parts = async (): Promise<number> =>
    (await here.service.query(`SELECT FROM output_delta WHERE request_id = '${id}'`)).length;
  await pruner.runOnce();
  expect(await parts()).toBeGreaterThan(0);
  await model.answer(running, '');
  await ofRunning.ended;
  expect(await (await here.response(running)).json()).toBe('goes on');
  await pruner.runOnce();
  expect(await parts()).toBe(0);

  const whole = '0 ["Once",1," upon"]';
  const fresh = await open(there, id);
  await fresh.ended;
  expect(fresh.words).toEqual([whole, 'done true']);
  const middle = await open(there, id, before.events[0]!.id);
  await middle.ended;
  expect(middle.words).toEqual(['reset 1', whole, 'done true']);
});

test('a client that stops reading uses bounded memory, others get everything, and the client can catch up later', async () => {
  const id = await here.submit('test/model', { hold: true });
  const sockets: { writableLength: number }[] = [];
  const server: Server = here.service.app.getHttpServer();
  const remember = (_request: object, response: { socket: unknown }): void =>
    void sockets.push(response.socket as (typeof sockets)[0]);
  server.on('request', remember);
  const slow = await open(here, id);
  server.off('request', remember);
  const quick = await open(here, id);
  slow.response.pause();
  const text = 'x'.repeat(40_000);
  let maxHeld = 0;
  for (let part = 0; part < 200; part++) {
    await model.say(id, [delta({ part, text })]);
    if (part % 10 === 9) await quick.has(part);
    maxHeld = Math.max(maxHeld, sockets[0]!.writableLength);
  }
  await model.answer(id, '');
  await quick.ended;
  expect(quick.events).toHaveLength(201);
  expect(maxHeld).toBeLessThan(2 * 1024 * 1024);
  slow.response.resume();
  await slow.ended;
  const parts = ({ events }: OutputStreamReader): unknown[] => events.map(({ id, data }) => [id, data.index]);
  expect(parts(slow)).toEqual(parts(quick));
});

test('a stream with a deleted output is refused with 410 gone', async () => {
  const id = await here.run('test/model');
  await here.service.query('UPDATE request SET output = NULL WHERE id = $1', [id]);
  expect(await verdict(here.service.get(`${here.path(id)}/output/stream`))).toEqual([410, 'gone']);
});
