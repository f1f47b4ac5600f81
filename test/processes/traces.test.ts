import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createTestDatabase,
  spawnService,
  type SpawnedService,
  type TestDatabase,
  until,
} from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const key = 'test_traces_key_0123456789';
const [traceId, callerId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const caller = { traceparent: `00-${traceId}-${callerId}-01`, tracestate: 'rojo=1' };
const receiver = new WebhookReceiver();
const model = new ModelServer();
let collector: OtlpReceiver;
let database: TestDatabase;
let directory: string;

beforeAll(async () => {
  await receiver.start();
  await model.start();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-traces-'));
  const { url } = model;
  const runner = { kind: 'http', url: `${url}?key=hush_hush` };
  await writeFile(
    join(directory, 'models.yaml'),
    model.file({ 'test/traced': { attempts: 3, runner }, 'test/pulled': { ...pulled, attempts: 2 } }),
  );
});
beforeEach(async () => {
  collector = await new OtlpReceiver().start();
  database = await createTestDatabase();
});
afterEach(async () => {
  await collector.stop();
  await database.drop();
});
afterAll(async () => {
  model.release();
  await receiver.stop();
  await model.stop();
  await rm(directory, { recursive: true, force: true });
});

const node = (name: string, environment: Record<string, string> = {}): Promise<SpawnedService> =>
  spawnService({
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    MODELS_FILE: join(directory, 'models.yaml'),
    WEBHOOK_ALLOW: '127.0.0.1',
    NODE_NAME: name,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ...environment,
  });

interface Queued {
  request_id: string;
  status_url: string;
}

async function call<Answer = Queued>(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const authorization = `Key ${key}`;
  const init = { method: 'POST', headers: { authorization, ...headers }, body: JSON.stringify(body) };
  const response = await fetch(url, init);
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as Answer;
}

/** The trace and the span of a call. */
function brought(headers: Record<string, unknown>): string {
  const [, trace, span, flags] = String(headers['traceparent']).split('-');
  expect(flags).toBe('01');
  return `${trace} ${span}`;
}

const completed = (statusUrl: string): Promise<unknown> =>
  until(async () => (await (await fetch(statusUrl)).text()).includes('"COMPLETED"'));

/** The spans of this name, in the order of their attempts. */
const named = (name: string): ReceivedSpan[] =>
  collector.spans
    .filter((span) => span.name === name)
    .sort((a, b) => Number(a.attributes['nowserving.attempt']) - Number(b.attributes['nowserving.attempt']));

const [client, producer, consumer] = [3, 4, 5];

test('a run of a worker is a span too, regardless of the node that receives its end', async () => {
  const [one, two] = [await node('one'), await node('two')];
  const { request_id: id } = await call(`${one.url}/v1/queue/test/pulled`, {}, caller);
  const at = (url: string) => new WorkerCalls({ url, key }, 'gpu-1');
  const failed = await at(one.url).run();
  expect(failed.request_id).toBe(id);
  await at(two.url).failure(failed, { message: 'no', retryable: true, retry_after_s: 0 });
  const run = await at(two.url).run();
  await at(one.url).output(run);
  await until(() => named('process test/pulled').length === 2);
  await Promise.all([one.stop(), two.stop()]);
  const [send] = named('send test/pulled');
  expect(named('process test/pulled')).toMatchObject(
    [1, 2].map((attempt) => ({
      traceId,
      parentSpanId: send!.spanId,
      kind: consumer,
      attributes: { 'nowserving.attempt': attempt },
      links: attempt === 1 ? [] : [{ spanId: send!.spanId }],
    })),
  );
  expect(named('process test/pulled').map((span) => span.attributes['error.type'])).toEqual([
    'model_error',
    undefined,
  ]);
});

test('one trace covers the submission, attempts across stopped and killed nodes, and the webhook', async () => {
  const api = await node('api', { ROLE: 'api' });
  const first = await node('first', { ROLE: 'scheduler' });
  const failing = { status: 500, headers: { 'retry-after': '4' } };
  const url = `${api.url}/v1/queue/test/traced?webhook=${encodeURIComponent(receiver.url('/traced?key=hush_hush'))}`;
  const script = { attempts: [failing, { hold: true }, {}] };
  const { request_id: id, status_url: statusUrl } = await call(url, script, caller);
  await model.arrived(id, 1);
  // The attempt has failed, and its span is sent before the node ends.
  await first.stop();
  const second = await node('second', { ROLE: 'scheduler' });
  await model.arrived(id, 2);
  second.kill('SIGKILL');
  await second.exited;
  const third = await node('third', { ROLE: 'scheduler' });
  await completed(statusUrl);
  const [hook] = await receiver.arrived('/traced?key=hush_hush');
  await Promise.all([api.stop(), third.stop()]);

  const [send] = named('send test/traced') as [ReceivedSpan];
  const messaging = { 'messaging.system': 'nowserving', 'messaging.destination.name': 'test/traced' };
  const sent = { ...messaging, 'messaging.operation.name': 'send', 'messaging.operation.type': 'send' };
  expect(send).toMatchObject({
    traceId,
    parentSpanId: callerId,
    kind: producer,
    attributes: sent,
    links: [],
  });
  expect(send.resource).toMatchObject({ 'service.name': 'nowserving', 'service.instance.id': 'api' });

  const [failed, succeeded, ...more] = named('process test/traced') as [ReceivedSpan, ReceivedSpan];
  expect(more).toEqual([]);
  const processed = {
    ...messaging,
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
  };
  const child = { traceId, parentSpanId: send.spanId, kind: consumer };
  expect(failed).toMatchObject({ ...child, links: [], isError: true });
  expect(failed.attributes).toEqual({
    ...processed,
    'nowserving.attempt': 1,
    'error.type': 'model_error',
  });
  expect(failed.resource).toMatchObject({ 'service.instance.id': 'first' });
  const links = [{ traceId, spanId: send.spanId }];
  expect(succeeded).toMatchObject({ ...child, links, isError: false });
  // The second attempt was lost with its node, and its span too.
  expect(succeeded.attributes).toEqual({ ...processed, 'nowserving.attempt': 3 });
  expect(succeeded.resource).toMatchObject({ 'service.instance.id': 'third' });

  const calls = named('POST').map(({ parentSpanId, kind, attributes }) => [parentSpanId, kind, attributes]);
  const to = (server: { url: string | (() => string) }) => {
    const { port } = new URL(typeof server.url === 'string' ? server.url : receiver.url());
    return { 'server.address': '127.0.0.1', 'server.port': Number(port), 'url.scheme': 'http' };
  };
  const post = { 'http.request.method': 'POST' };
  const refused = { 'http.response.status_code': 500, 'error.type': 'model_error' };
  expect(calls).toHaveLength(3);
  expect(calls).toEqual(
    expect.arrayContaining([
      [failed.spanId, client, { ...post, ...to(model), ...refused }],
      [succeeded.spanId, client, { ...post, ...to(model), 'http.response.status_code': 200 }],
      [send.spanId, client, { ...post, ...to(receiver), 'http.response.status_code': 204 }],
    ]),
  );
  const told = [...model.calls.filter((one) => one.id === id && one.attempt !== 2), hook!];
  expect(told.map(({ headers }) => brought(headers)).toSorted()).toEqual(
    named('POST')
      .map(({ spanId }) => `${traceId} ${spanId}`)
      .toSorted(),
  );
  for (const { headers } of told) expect(headers['tracestate']).toBe('rojo=1');
  const bodies = Buffer.concat(collector.bodies).toString('latin1');
  for (const secret of [id, key, 'hush_hush']) expect(bodies).not.toContain(secret);
});

test('batches, retries and calls without a trace have spans too', async () => {
  const service = await node('one');
  const queue = `${service.url}/v1/queue`;
  const entry = { model_id: 'test/traced', input: {} };
  const batched = { requests: [entry, entry] };
  const { results } = await call<{ results: [Queued, Queued] }>(`${queue}/requests`, batched);
  for (const { status_url } of results) await completed(status_url);
  const retried = await call(`${queue}/requests/${results[0].request_id}/retry`, undefined);
  await completed(retried.status_url);
  const plain = await call(`${queue}/test/traced`, {}, { traceparent: 'nonsense' });
  await completed(plain.status_url);
  await service.stop();

  const [batch, again, alone] = named('send test/traced');
  expect(batch!.attributes).toMatchObject({ 'messaging.batch.message_count': 2 });
  expect(batch!.parentSpanId).toBe('');
  // A retry without a trace of its own continues the trace of the request that it repeats.
  expect(again).toMatchObject({ traceId: batch!.traceId, parentSpanId: batch!.spanId });
  expect(alone).toMatchObject({ parentSpanId: '' });
  expect(alone!.traceId).not.toBe(batch!.traceId);
  const parents = named('process test/traced').map(({ parentSpanId }) => parentSpanId);
  const sends = [batch!, batch!, again!, alone!].map(({ spanId }) => spanId);
  expect(parents.toSorted()).toEqual(sends.toSorted());
});

test('an operator’s retries have a send span, also in bulk', async () => {
  const service = await node('one');
  const admin = `${service.url}/v1/admin`;
  const first = await call(`${service.url}/v1/queue/test/traced?tag=bulk:1`, {}, caller);
  await completed(first.status_url);
  const sent = (count: number): Promise<boolean> =>
    until(() => named('send test/traced').length === count, { explain: () => collector.spans });
  await call(
    `${admin}/requests/${first.request_id}/retry`,
    {},
    { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  );
  await sent(2);
  await call(`${admin}/operations`, { action: 'retry', filter: { ids: [first.request_id] } });
  await sent(3);
  await service.stop();
  const [original] = named('send test/traced') as [ReceivedSpan];
  expect(named('send test/traced')).toMatchObject([
    { traceId, parentSpanId: callerId },
    { traceId: 'a'.repeat(32), parentSpanId: 'b'.repeat(16) },
    { traceId, parentSpanId: original.spanId },
  ]);
});

test('an unavailable collector costs only one log line', async () => {
  collector.status = 400;
  const service = await node('one');
  for (let i = 0; i < 3; i++) {
    const { status_url } = await call(`${service.url}/v1/queue/test/traced`, {});
    await completed(status_url);
  }
  await until(() => service.output.includes('"msg":"traces: '), { explain: () => service.output });
  await service.stop();
  expect(service.output.match(/"msg":"traces: /g)).toHaveLength(1);
});
