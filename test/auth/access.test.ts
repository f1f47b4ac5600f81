import { FileCalls, someBytes } from '../support/file-calls.js';
import { keyHeader, QueueCalls, verdict } from '../support/queue-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { readStream } from '../support/stream-reader.js';

const routes = [
  ['GET', '/status'],
  ['GET', '/status/stream'],
  ['GET', '/output/stream'],
  ['GET', ''],
  ['PUT', '/cancel'],
] as const;

function callWith(
  service: TestService,
  id: string,
  headers: Record<string, string> = {},
): Promise<Response>[] {
  return routes.map(([method, route]) =>
    fetch(`${service.url}/v1/queue/requests/${id}${route}`, { method, headers }),
  );
}

const verdicts = (answers: Promise<Response>[]): Promise<unknown[]> => Promise.all(answers.map(verdict));
const each = (status: number, code: string): unknown[] => routes.map(() => [status, code]);

async function statuses(answers: Promise<Response>[]): Promise<number[]> {
  const all = await Promise.all(answers);
  await Promise.all(all.map((answer) => answer.text()));
  return all.map(({ status }) => status);
}

describe('with REQUEST_ACCESS=capability', () => {
  let service: TestService;
  let calls: QueueCalls;
  let id: string;

  beforeAll(async () => {
    service = await startTestService();
    calls = new QueueCalls(service);
    id = await calls.run('demo/text/echo');
  });
  afterAll(() => service.stop());

  test('the id is enough, with or without the key that submitted the request', async () => {
    expect(await statuses(callWith(service, id))).toEqual([200, 200, 200, 200, 400]);
    expect(await statuses(callWith(service, id, keyHeader(service.key)))).toEqual([200, 200, 200, 200, 400]);
  });

  test('a key that is sent must be valid', async () => {
    const answers = callWith(service, id, keyHeader('ns_unknown'));
    for (const answer of answers) expect((await answer).headers.get('www-authenticate')).toBe('Key');
    expect(await verdicts(answers)).toEqual(each(401, 'invalid_key'));
  });

  test('a key that is sent must own the request, otherwise the answer is 404', async () => {
    const foreign = callWith(service, id, keyHeader(await calls.newKey()));
    expect(await verdicts(foreign)).toEqual(each(404, 'unknown_request'));
  });

  test('a key that is sent must have the scope of the call', async () => {
    const submitter = callWith(service, id, keyHeader(await calls.newKey({ scopes: ['submit'] })));
    expect(await verdicts(submitter)).toEqual(each(403, 'forbidden'));
    const reader = keyHeader(await calls.newKey({ scopes: ['submit', 'read'] }));
    const own = await calls.submit('demo/text/echo', {}, reader);
    const [status, stream, grown, output, cancel] = callWith(service, own, reader);
    expect(await statuses([status!, stream!, grown!])).toEqual([200, 200, 200]);
    expect((await output!).status).toBeLessThanOrEqual(400);
    expect(await verdict(cancel!)).toEqual([403, 'forbidden']);
  });

  test('a revoked key is refused, even for its own requests', async () => {
    const key = await calls.newKey();
    const headers = keyHeader(key);
    const own = await calls.submit('demo/text/echo', {}, headers);
    await service.query(`UPDATE api_key SET revoked_at = now() WHERE prefix = $1`, [key.slice(0, 10)]);
    const status = `${calls.path(own)}/status`;
    await until(async () => (await service.get(status, { headers })).status === 401);
    expect(await verdicts(callWith(service, own, headers))).toEqual(each(401, 'invalid_key'));
    expect((await service.get(status)).status).toBe(200);
  });
});

test('REQUEST_ACCESS=key demands the key that submitted the request', async () => {
  const service = await startTestService({ config: { requestAccess: 'key' } });
  try {
    const calls = new QueueCalls(service);
    const owner = keyHeader(service.key);
    const id = await calls.submit('demo/text/echo');
    await until(async () => (await service.get(calls.path(id), { headers: owner })).status === 200);
    expect(await verdicts(callWith(service, id))).toEqual(each(401, 'missing_key'));
    expect(await statuses(callWith(service, id, owner))).toEqual([200, 200, 200, 200, 400]);
    const foreign = callWith(service, id, keyHeader(await calls.newKey()));
    expect(await verdicts(foreign)).toEqual(each(404, 'unknown_request'));
  } finally {
    await service.stop();
  }
});

test('with REQUEST_ACCESS=key the URL of a file is still enough to read it', async () => {
  const service = await startTestService({ config: { requestAccess: 'key' } });
  try {
    const files = new FileCalls(service);
    const bytes = someBytes(1_000);
    expect(await files.bytes(await files.store(bytes))).toEqual(bytes);
  } finally {
    await service.stop();
  }
});

test('with REQUEST_ACCESS=key the streams of a request end once their key is revoked', async () => {
  const service = await startTestService({ config: { requestAccess: 'key' } });
  try {
    const calls = new QueueCalls(service);
    const key = await calls.newKey();
    const headers = keyHeader(key);
    const id = await calls.submit('demo/text/echo?delay=1h', {}, headers);
    const streams = ['status', 'output'].map((what) =>
      readStream(`${service.url}${calls.path(id)}/${what}/stream`, headers),
    );
    const [status, output] = await Promise.all(streams);
    await status!.event(({ status }) => status === 'IN_QUEUE', 'it is open');
    await service.query('UPDATE api_key SET revoked_at = now() WHERE prefix = $1', [key.slice(0, 10)]);
    await Promise.all([status!.ended, output!.ended]);
    const [row] = await service.query('SELECT state FROM request WHERE id = $1', [id]);
    expect(row).toEqual({ state: 'IN_QUEUE' });
  } finally {
    await service.stop();
  }
});
