import { request as httpRequest, type ServerResponse } from 'node:http';
import { CallerFinder } from '../../src/auth/caller-finder.js';
import type { Scope } from '../../src/auth/caller.js';
import { CallerWatch } from '../../src/auth/caller-watch.js';
import { Batches } from '../../src/batches/batches.js';
import { adapters } from '../../src/config/adapter.js';
import { BodyReader } from '../../src/http/body-reader.js';
import { HttpConnections } from '../../src/http/http-connections.js';
import { shippedPace } from '../../src/http/progress.js';
import { WorkerBeats } from '../../src/queue/workers/worker-beats.js';
import { WorkerClaims } from '../../src/queue/workers/worker-claims.js';
import { LongPolls } from '../../src/requests/long-polls.js';
import { AdminCalls } from '../support/admin-calls.js';
import { BatchCalls, inputLines } from '../support/batch-calls.js';
import { until } from '../support/index.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';
import { pulled, WorkerCalls } from '../support/worker-calls.js';

const { service, calls } = testQueue({
  limits: 'off',
  config: { adapters: [...adapters] },
  models: { 'test/pulled': pulled, 'test/http': { concurrency: 50 }, 'test/other': {} },
});
const admin = new AdminCalls(service);
const claims = (): WorkerClaims => service.app.get(WorkerClaims);
const beats = (): WorkerBeats => service.app.get(WorkerBeats);
const longPolls = (): LongPolls => service.app.get(LongPolls);
const watch = (): CallerWatch => service.app.get(CallerWatch);

const size = (of: { size: number }, count: number): Promise<unknown> =>
  until(() => of.size === count, { message: `${count} calls are held`, explain: () => of.size });

/** From now on the watch checks keys only after it is notified of a change. */
function stopLooking(): void {
  clearInterval(watch()['timer']);
}

const prefer = (key: string): Record<string, string> => ({ prefer: 'wait=60', ...keyHeader(key) });

/** Revokes a key as another node does, without a notification to this one. */
async function revokeElsewhere(id: string): Promise<void> {
  await service.query('UPDATE api_key SET revoked_at = now() WHERE id = $1', [id]);
}

const revoke = async (id: string): Promise<void> => {
  expect((await admin.call('DELETE', `/keys/${id}`)).status).toBe(204);
};

const change = async (id: string, changes: object): Promise<void> => {
  expect((await admin.call('PATCH', `/keys/${id}`, { body: changes })).status).toBe(200);
};

describe('a long-polling claim', () => {
  async function hold() {
    const { id, key } = await admin.newKey({ scopes: ['work'] });
    const worker = new WorkerCalls(service, undefined, key);
    const answer = worker.claim({ wait: 25 });
    await size(claims(), 1);
    return { id, answer };
  }

  /** Submits a request, which then waits for a worker that may run it. */
  async function expectUntouched(): Promise<void> {
    const id = await calls.submit('test/pulled', { secret: true });
    const other = new WorkerCalls(service);
    const run = await other.run();
    expect([run.request_id, run.attempt]).toEqual([id, 1]);
    await other.output(run);
  }

  test('is refused at once when its key is revoked on this node', async () => {
    const { id, answer } = await hold();
    stopLooking();
    await revoke(id);
    expect(await verdict(answer)).toEqual([401, 'invalid_key']);
    await size(claims(), 0);
    await expectUntouched();
  });

  test('is refused because its key was revoked on another node', async () => {
    const { id, answer } = await hold();
    await revokeElsewhere(id);
    expect(await verdict(answer)).toEqual([401, 'invalid_key']);
    await expectUntouched();
  });

  test('is refused when its key expires', async () => {
    const { id, answer } = await hold();
    await service.query(`UPDATE api_key SET expires_at = now() + interval '1 second' WHERE id = $1`, [id]);
    expect(await verdict(answer)).toEqual([401, 'invalid_key']);
  });

  test.each([
    ['the scope work', { scopes: ['read'] }],
    ['its model', { models: ['test/http'] }],
  ])('is refused when its key loses %s', async (_, changes) => {
    const { id, answer } = await hold();
    stopLooking();
    await change(id, changes);
    expect(await verdict(answer)).toEqual([403, 'forbidden']);
    await expectUntouched();
  });

  test('continues when its key is changed otherwise, and when another key is revoked', async () => {
    const { id, answer } = await hold();
    await change(id, { name: 'renamed' });
    await revoke((await admin.newKey()).id);
    const submitted = await calls.submit('test/pulled');
    expect((await answer).status).toBe(200);
    expect(await (await answer).json()).toMatchObject({ runs: [{ request_id: submitted }] });
  });

  test('releases a run that it received during the revocation, at no cost in attempts', async () => {
    const { id, answer } = await hold();
    // The watch is late, so the run arrives before it.
    stopLooking();
    Object.assign(watch()['looks'], { run: () => Promise.resolve() });
    await revokeElsewhere(id);
    service.app.get(CallerFinder).lookAgain();
    const submitted = await calls.submit('test/pulled');
    expect(await verdict(answer)).toEqual([401, 'invalid_key']);
    Reflect.deleteProperty(watch()['looks'], 'run');
    const run = await new WorkerCalls(service).run();
    expect([run.request_id, run.attempt]).toEqual([submitted, 1]);
    const attempts = await service.query('SELECT outcome FROM attempt WHERE request_id = $1', [submitted]);
    expect(attempts).toEqual([{ outcome: 'returned' }]);
  });
});

test('a long-polling beat is refused when its key is revoked', async () => {
  const { id, key } = await admin.newKey({ scopes: ['work'] });
  const worker = new WorkerCalls(service, undefined, key);
  const body = JSON.stringify({ worker_id: worker.id, leases: [] });
  const answer = worker.call('POST', 'beats', { body, headers: { prefer: 'wait=10' } });
  await size(beats(), 1);
  stopLooking();
  await revoke(id);
  expect(await verdict(answer)).toEqual([401, 'invalid_key']);
  expect(beats().size).toBe(0);
});

describe('a call that waits for its request', () => {
  const open = {
    submit: (key: string) => service.submit('test/http', { hold: true }, prefer(key)),
    status: (key: string, id: string) => service.get(`${calls.path(id)}/status`, { headers: prefer(key) }),
    response: (key: string, id: string) => service.get(calls.path(id), { headers: prefer(key) }),
  };

  describe.each(Object.entries(open))('%s', (_, call) => {
    async function hold() {
      const { id, key } = await admin.newKey();
      const request = await calls.submit('test/http', { hold: true }, keyHeader(key));
      const answer = call(key, request);
      await size(longPolls(), 1);
      return { id, answer };
    }

    test('is refused at once when its key is revoked, although the id is enough without a key', async () => {
      const { id, answer } = await hold();
      stopLooking();
      await revoke(id);
      expect(await verdict(answer)).toEqual([401, 'invalid_key']);
      expect(longPolls().size).toBe(0);
    });

    test('is refused when its key loses the scope', async () => {
      const { id, answer } = await hold();
      await change(id, { scopes: ['cancel'] });
      expect(await verdict(answer)).toEqual([403, 'forbidden']);
    });
  });

  test('is refused on each route when its key is revoked on another node', async () => {
    const held: { id: string; answer: Promise<Response> }[] = [];
    for (const call of Object.values(open)) {
      const { id, key } = await admin.newKey();
      const request = await calls.submit('test/http', { hold: true }, keyHeader(key));
      held.push({ id, answer: call(key, request) });
      await size(longPolls(), held.length);
    }
    for (const { id } of held) await revokeElsewhere(id);
    for (const { answer } of held) expect(await verdict(answer)).toEqual([401, 'invalid_key']);
  });

  test('that submits is refused when its key loses the model; the request stays', async () => {
    const { id, key } = await admin.newKey();
    const answer = open.submit(key);
    await size(longPolls(), 1);
    await change(id, { models: ['test/other'] });
    expect(await verdict(answer)).toEqual([403, 'forbidden']);
    const rows = await service.query('SELECT outcome FROM request WHERE api_key_id = $1', [id]);
    expect(rows).toEqual([{ outcome: null }]);
  });

  test('continues without a key when the key of the request is revoked', async () => {
    const { id, key } = await admin.newKey();
    const request = await calls.submit('test/http', { hold: true }, keyHeader(key));
    const answer = service.get(`${calls.path(request)}/status`, { headers: { prefer: 'wait=60' } });
    await size(longPolls(), 1);
    await revoke(id);
    await calls.cancel(request);
    expect(await (await answer).json()).toMatchObject({ status: 'COMPLETED' });
  });
});

describe('a stream', () => {
  test.each(['status', 'output'])('of the %s ends when its key is revoked', async (what) => {
    const { id, key } = await admin.newKey();
    const request = await calls.submit('test/http', { hold: true }, keyHeader(key));
    const stream = await readStream(`${service.url}${calls.path(request)}/${what}/stream`, keyHeader(key));
    stopLooking();
    await revoke(id);
    await stream.ended;
    const other = await readStream(`${service.url}${calls.path(request)}/status/stream`);
    await other.event(({ status }) => status === 'IN_PROGRESS', 'without a key it is served');
    await other.drop();
  });

  test('of the overview ends when its session ends or its key loses the scope payloads', async () => {
    const { id, key } = await admin.newKey({ scopes: ['observe', 'payloads'] });
    const cookie = await admin.cookie(key);
    const url = `${service.url}/v1/admin/events`;
    const streams = [await readStream(url, { cookie }), await readStream(url, keyHeader(key))];
    stopLooking();
    const { data } = await admin.json<{ data: { id: string; key_id: string }[] }>('GET', '/sessions');
    const session = data.find(({ key_id }) => key_id === id)!;
    expect((await admin.call('DELETE', `/sessions/${session.id}`)).status).toBe(204);
    await streams[0]!.ended;
    expect(streams[1]!.response.closed).toBe(false);
    await change(id, { scopes: ['observe'] });
    await streams[1]!.ended;
  });
});

describe('a download whose client does not read it breaks off when its key is revoked:', () => {
  const megabyte = 1024 ** 2;
  /** More than the operating system keeps of an answer for a client that does not read. */
  const megabytes = 32;

  // Otherwise the service soon closes the connection of such a client.
  const connections = (): HttpConnections => service.app.get(HttpConnections);
  beforeAll(() => {
    connections().pace = { ...connections().pace, graceMs: Infinity, silenceMs: Infinity };
  });
  afterAll(() => {
    connections().pace = { ...connections().pace, ...shippedPace };
  });

  async function expectBrokenOff(
    scopes: Scope[],
    download: (headers: Record<string, string>) => Promise<Response>,
  ): Promise<void> {
    const { id, key } = await admin.newKey({ scopes });
    const served: ServerResponse[] = [];
    const note = (_: unknown, response: ServerResponse): unknown => served.push(response);
    service.app.getHttpServer().on('request', note);
    const answer = await download(keyHeader(key));
    service.app.getHttpServer().off('request', note);
    expect(answer.status).toBe(200);
    stopLooking();
    await revoke(id);
    await until(() => served.at(-1)!.destroyed, { message: 'the connection of the download is closed' });
    await expect(answer.text()).rejects.toThrow('terminated');
  }

  test('an export of the audit', async () => {
    await service.query(
      `INSERT INTO audit_entry (id, action, actor_name, before)
       SELECT gen_random_uuid(), 'key.update', 'test', jsonb_build_object('text', repeat('x', 20000))
       FROM generate_series(1, 1700)`,
    );
    await expectBrokenOff(['observe'], (headers) =>
      fetch(`${service.url}/v1/admin/audit`, { headers: { ...headers, accept: 'application/x-ndjson' } }),
    );
  });

  test.each(['output', 'errors'])('the file of a batch for operators: %s', async (file) => {
    const batches = service.app.get(Batches);
    const { batch_id: id } = await new BatchCalls(service).send(inputLines(1), '?model_id=test/http');
    async function* lines(): AsyncGenerator<Buffer> {
      for (let i = 0; i < megabytes; i++) yield await Promise.resolve(Buffer.alloc(megabyte, '\n'));
    }
    Object.assign(batches, { readOutput: lines, readErrors: lines });
    await expectBrokenOff(['payloads'], (headers) =>
      fetch(`${service.url}/v1/admin/batches/${id}/${file}`, { headers }),
    );
    Reflect.deleteProperty(batches, 'readOutput');
    Reflect.deleteProperty(batches, 'readErrors');
  });

  test('a file that a key keeps', async () => {
    await expectBrokenOff(['submit', 'read'], async (headers) => {
      const form = new FormData();
      form.append('purpose', 'user_data');
      form.append('file', new Blob([Buffer.alloc(megabytes * megabyte)]), 'large');
      const made = await fetch(`${service.url}/openai/v1/files`, { method: 'POST', headers, body: form });
      const { id } = (await made.json()) as { id: string };
      return fetch(`${service.url}/openai/v1/files/${id}/content`, { headers });
    });
  });
});

/** Makes a call whose key is revoked when the first part of its body has come. Returns the status of its answer. */
async function revokedWithin(path: string, [first, rest]: readonly [string, string], type?: string) {
  const { id, key } = await admin.newKey();
  const headers = { ...keyHeader(key), ...(type !== undefined && { 'content-type': type }) };
  const call = httpRequest(service.url + path, { method: 'POST', headers });
  const status = new Promise((resolve) =>
    call.on('response', (answer) => resolve(answer.resume().statusCode)),
  );
  const arrived = new Promise((resolve) => service.app.getHttpServer().once('request', resolve));
  call.write(first);
  await arrived;
  await revoke(id);
  call.end(rest);
  return status;
}

test('a call with a slow body is authorized again before it changes anything', async () => {
  const bodies = service.app.get(BodyReader);
  bodies.slowMs = 0;
  const before = await calls.count('request');
  for (const path of ['test/http', 'requests', 'requests/cancel'])
    expect([path, await revokedWithin(`/v1/queue/${path}`, ['{', '}'])]).toEqual([path, 401]);
  bodies.slowMs = 1_000;
  expect(await calls.count('request')).toBe(before);
});

const partOf = (field: string, value: string): string =>
  `--x\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`;
const fileOf = (field: string): string =>
  `--x\r\nContent-Disposition: form-data; name="${field}"; filename="a"\r\n\r\na\r\n--x--\r\n`;
const formType = 'multipart/form-data; boundary=x';

test.each([
  ['/v1/batches?model_id=test/http', ['{"input":{}}\n', '{"input":{}}\n'], 'application/x-ndjson', 'batch'],
  ['/openai/v1/audio/transcriptions', [partOf('model', 'test/http'), fileOf('file')], formType, 'request'],
  ['/openai/v1/files', [partOf('purpose', 'batch'), fileOf('file')], formType, undefined],
  ['/replicate/v1/files', [partOf('metadata', '{}'), fileOf('content')], formType, undefined],
] as const)(
  'a call to %s, which stores its body during the upload, is authorized again at the end',
  async (path, body, type, table) => {
    const before = table && (await calls.count(table));
    expect(await revokedWithin(path, body, type)).toBe(401);
    if (table !== undefined) expect(await calls.count(table)).toBe(before);
  },
);
