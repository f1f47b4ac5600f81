import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Allowances } from '../../src/allowances/allowances.js';
import { Clock } from '../../src/database/clock.js';
import { DiskSpace } from '../../src/files/disk-space.js';
import { HttpConnections } from '../../src/http/http-connections.js';
import { shippedPace } from '../../src/http/progress.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { type Body, FileCalls, fileId, sha256, someBytes } from '../support/file-calls.js';
import { expectRefusal, sendThenRead } from '../support/hostile-client.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader, QueueCalls, verdict } from '../support/queue-calls.js';

const maxFileBytes = 1024 * 1024;
let service: TestService;
let files: FileCalls;

beforeAll(async () => {
  service = await startTestService({ limits: '1000/s', config: { maxFileBytes, trustProxy: true } });
  files = new FileCalls(service);
});
afterAll(() => service.stop());
afterEach(() => Object.assign(service.app.get(HttpConnections).pace, shippedPace, { checkMs: 2_000 }));

/** Expects that the failing work adds nothing to the disk. Files that a test has stored stay there. */
async function addsNothing(work: () => Promise<unknown>): Promise<void> {
  const before = await files.onDisk();
  await work();
  await until(async () => (await files.onDisk()).length === before.length, {
    message: 'nothing is left behind',
    explain: () => files.onDisk(),
  });
  expect((await files.onDisk()).sort()).toEqual(before.sort());
}

describe('an upload', () => {
  test('takes two calls, the second without a key, and stores the bytes as sent', async () => {
    const bytes = someBytes(300_000);
    const { file_url, upload_url } = await files.initiate('image/png', 'a cat.png');
    expect(file_url).toBe(`${service.url}/v1/files/${fileId(file_url)}/a%20cat.png`);
    expect(upload_url.startsWith(`${service.url}/v1/storage/uploads/`)).toBe(true);
    expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
    const answer = await files.put(upload_url, bytes);
    expect([answer.status, await answer.json()]).toEqual([200, { size: 300_000, sha256: sha256(bytes) }]);
    expect((await files.bytes(file_url)).equals(bytes)).toBe(true);
  });

  test('may be empty, and may be chunked', async () => {
    expect(await files.bytes(await files.store(''))).toHaveLength(0);
    const { file_url, upload_url } = await files.initiate();
    const chunks = Array.from({ length: 20 }, () => someBytes(10_000));
    const body = ReadableStream.from(chunks) as unknown as Body;
    const answer = await files.put(upload_url, body, 'image/png', { duplex: 'half' });
    expect(answer.status).toBe(200);
    expect(sha256(await files.bytes(file_url))).toBe(sha256(Buffer.concat(chunks)));
  });

  test('continues for a client that expects 100 Continue', async () => {
    const { file_url, upload_url } = await files.initiate();
    const answer = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'image/png', 'content-length': 3, expect: '100-continue' };
      const call = httpRequest(upload_url, { method: 'PUT', headers });
      call.on('continue', () => call.end('abc')).on('error', reject);
      call.on('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.flushHeaders();
    });
    expect(answer).toBe(200);
    expect((await files.bytes(file_url)).toString()).toBe('abc');
  });

  test('has URLs under the address that a trusted proxy was called by', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'queue.example.org' };
    const answer = await files.ask(
      { content_type: 'text/plain' },
      { ...keyHeader(service.key), ...forwarded },
    );
    const { file_url, upload_url } = (await answer.json()) as Record<string, string>;
    expect(file_url).toMatch(/^https:\/\/queue\.example\.org\/v1\/files\/[0-9a-f-]{36}\/file$/);
    expect(upload_url).toMatch(/^https:\/\/queue\.example\.org\/v1\/storage\/uploads\//);
  });
});

describe('a call that initiates an upload', () => {
  test('needs a key with the scope submit', async () => {
    const calls = new QueueCalls(service);
    const body = { content_type: 'image/png', file_name: 'a.png' };
    expect(await verdict(files.ask(body, {}))).toEqual([401, 'missing_key']);
    const reader = await calls.newKey({ scopes: ['read', 'cancel'] });
    expect(await verdict(files.ask(body, keyHeader(reader)))).toEqual([403, 'forbidden']);
  });

  test.each([
    ['no content type', {}, 400, 'bad_request'],
    ['a content type that is none', { content_type: 'png' }, 400, 'bad_request'],
    ['a content type of two lines', { content_type: 'image/png\r\nSet-Cookie: a=b' }, 400, 'bad_request'],
    ['a content type that is long', { content_type: `image/${'x'.repeat(300)}` }, 400, 'bad_request'],
    ['a content type that is a number', { content_type: 7 }, 400, 'bad_request'],
    ['a name that is no text', { content_type: 'image/png', file_name: ['a'] }, 400, 'bad_request'],
    ['no object', 'image/png', 400, 'invalid_json'],
  ])('with %s is refused', async (_, body, status, code) => {
    expect(await verdict(files.ask(body))).toEqual([status, code]);
  });
});

describe('an upload URL', () => {
  test('is valid only for its own upload', async () => {
    const [one, other] = [await files.initiate(), await files.initiate()];
    const swapped = one.upload_url.replace(fileId(one.file_url), fileId(other.file_url));
    await addsNothing(async () => {
      expect(await verdict(files.put(swapped, 'x'))).toEqual([403, 'invalid_upload_url']);
    });
  });

  test.each([
    ['another time', 'expires', '99999999999'],
    ['another type', 'type', 'text/html'],
    ['another signature', 'signature', 'A'.repeat(43)],
    ['an empty signature', 'signature', ''],
    ['a long signature', 'signature', 'A'.repeat(5_000)],
    ['a time that is none', 'expires', 'soon'],
  ])('with %s is refused', async (_, name, value) => {
    const url = new URL((await files.initiate()).upload_url);
    url.searchParams.set(name, value);
    const type = name === 'type' ? value : 'image/png';
    expect(await verdict(files.put(url.href, 'x', type))).toEqual([403, 'invalid_upload_url']);
  });

  test('with a repeated parameter or without a signature is refused', async () => {
    const { upload_url } = await files.initiate();
    expect(await verdict(files.put(`${upload_url}&expires=1`, 'x'))).toEqual([403, 'invalid_upload_url']);
    const bare = upload_url.split('?')[0]!;
    expect(await verdict(files.put(bare, 'x'))).toEqual([404, 'unknown_file']);
  });

  test('expires after an hour', async () => {
    const { upload_url } = await files.initiate();
    const clock = service.app.get(Clock);
    clock.now = () => Clock.prototype.now.call(clock) + 3_601_000;
    const answer = files.put(upload_url, 'x');
    expect(await verdict(answer.finally(() => delete (clock as Partial<Clock>).now))).toEqual([
      403,
      'invalid_upload_url',
    ]);
  });

  test('is used up once the file is stored', async () => {
    const { file_url, upload_url } = await files.initiate();
    expect((await files.put(upload_url, 'first')).status).toBe(200);
    await addsNothing(async () => {
      expect(await verdict(files.put(upload_url, 'other'))).toEqual([409, 'conflict']);
    });
    expect((await files.bytes(file_url)).toString()).toBe('first');
  });

  test('that is used many times at once stores the bytes of one call, whole', async () => {
    const { file_url, upload_url } = await files.initiate();
    const bodies = Array.from({ length: 12 }, () => someBytes(200_000));
    const before = (await files.onDisk()).length;
    const answers = await Promise.all(bodies.map((body) => files.put(upload_url, body)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(11);
    expect((await files.bytes(file_url)).equals(bodies[statuses.indexOf(200)]!)).toBe(true);
    expect(await files.onDisk()).toHaveLength(before + 1);
  });
});

describe('bytes that are not as announced', () => {
  test('of another type are refused before any is read', async () => {
    const { upload_url } = await files.initiate('image/png');
    await addsNothing(async () => {
      expect(await verdict(files.put(upload_url, '<svg/>', 'image/svg+xml'))).toEqual([
        400,
        'invalid_upload',
      ]);
      const encoded = { headers: { 'content-type': 'image/png', 'content-encoding': 'gzip' } };
      expect(await verdict(files.put(upload_url, 'x', '', encoded))).toEqual([415, 'unsupported_encoding']);
    });
    expect((await files.put(upload_url, 'x', 'IMAGE/PNG')).status).toBe(200);
  });

  test('beyond the limit are refused by their length, or during the upload if they have none', async () => {
    const { upload_url } = await files.initiate();
    const large = someBytes(maxFileBytes + 1);
    await addsNothing(async () => {
      expect(await verdict(files.put(upload_url, large))).toEqual([413, 'body_too_large']);
      const endless = new ReadableStream({ pull: (to) => to.enqueue(someBytes(64 * 1024)) });
      const init = { duplex: 'half' } as const;
      const answer = files.put(upload_url, endless, 'image/png', init);
      // A client may see the connection end before it has read the answer.
      expect(await verdict(answer).catch(() => [413, 'body_too_large'])).toEqual([413, 'body_too_large']);
    });
    expect((await files.put(upload_url, large.subarray(1))).status).toBe(200);
  });

  test('beyond the limit get a refusal that is readable even after the client has sent all', async () => {
    const large = someBytes(20 * maxFileBytes);
    const chunked = [
      `Transfer-Encoding: chunked\r\n\r\n${large.length.toString(16)}\r\n`,
      large,
      '\r\n0\r\n\r\n',
    ];
    for (const body of [[`Content-Length: ${large.length}\r\n\r\n`, large], chunked]) {
      const { pathname, search } = new URL((await files.initiate()).upload_url);
      const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nConnection: close\r\n`;
      await addsNothing(async () => {
        expectRefusal(await sendThenRead(service, head, ...body), 413, 'body_too_large');
      });
    }
  });

  test('that break off leave nothing, and may be sent again', async () => {
    const { file_url, upload_url } = await files.initiate();
    await addsNothing(async () => {
      await breaksOff(upload_url, 1_000_000, 800_000);
    });
    expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
    expect((await files.put(upload_url, 'whole')).status).toBe(200);
    expect((await files.bytes(file_url)).toString()).toBe('whole');
  });

  test('that stop arriving are answered 408', async () => {
    const { upload_url } = await files.initiate();
    Object.assign(service.app.get(HttpConnections).pace, { silenceMs: 50, checkMs: 20 });
    await addsNothing(async () => {
      const { hostname, port, pathname, search } = new URL(upload_url);
      const socket = connect(Number(port), hostname);
      socket.write(`PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\n`);
      socket.write('Content-Length: 1000\r\n\r\nabc');
      let said = '';
      socket.on('data', (chunk: Buffer) => (said += chunk.toString()));
      await new Promise((done) => socket.on('close', done));
      expect(said).toMatch(/^HTTP\/1\.1 408 [^]*"code":"too_slow"/);
    });
  });
});

test('an upload is charged for what it has in memory: a block that is written, and the next one', async () => {
  const [space, allowances] = [service.app.get(DiskSpace), service.app.get(Allowances)];
  const written = jest.spyOn(space, 'take');
  const charged = jest.spyOn(allowances, 'take');
  await files.store(someBytes(maxFileBytes));
  const ofUpload = charged.mock.calls.flatMap(([, resource, amount]) =>
    resource === 'bytes' ? [amount] : [],
  );
  expect(ofUpload).toHaveLength(1);
  expect(Math.max(...written.mock.calls.map(([bytes]) => bytes))).toBeLessThanOrEqual(ofUpload[0]! / 2);
  for (const spy of [written, charged]) spy.mockRestore();
});

test('a small upload is charged for its length, and one below 16 KiB for nothing', async () => {
  const charged = jest.spyOn(service.app.get(Allowances), 'take');
  await files.store(someBytes(20_000));
  await files.store(someBytes(3_000));
  const ofUploads = charged.mock.calls.map(([, resource, amount]) => [resource, amount]);
  charged.mockRestore();
  expect(ofUploads).toEqual([['bytes', 20_000]]);
});

test('a hundred uploads at once are all whole', async () => {
  const bodies = Array.from({ length: 100 }, (_, i) =>
    Buffer.concat([Buffer.from(`${i} `), someBytes(3_000)]),
  );
  const before = (await files.onDisk()).length;
  const urls = await inParallel(50, bodies, (body) => files.store(body));
  await inParallel(50, urls, async (url, i) =>
    expect((await files.bytes(url)).equals(bodies[i]!)).toBe(true),
  );
  expect(new Set(urls).size).toBe(100);
  expect(await files.onDisk()).toHaveLength(before + 100);
});

test('browsers may upload if CORS allows their page; initiating counts as a call, but not as a submission', async () => {
  const origin = 'https://app.example.org';
  const shared = await startTestService({ limits: '2/h', config: { corsOrigins: [origin] } });
  const preflight = async (path: string, method: string): Promise<Headers> => {
    const headers = { origin, 'access-control-request-method': method };
    return (await fetch(shared.url + path, { method: 'OPTIONS', headers })).headers;
  };
  const url = new URL(await new FileCalls(shared).store('x'));
  for (const [path, method] of [
    ['/v1/storage/upload/initiate', 'POST'],
    [`/v1/storage/uploads/${randomUUID()}`, 'PUT'],
    [url.pathname, 'GET'],
  ] as const) {
    const allowed = await preflight(path, method);
    expect(allowed.get('access-control-allow-origin')).toBe(origin);
    expect(allowed.get('access-control-allow-methods')).toContain(method);
  }
  const { headers } = await fetch(url, { headers: { origin } });
  expect(headers.get('access-control-expose-headers')).toContain('ETag');
  expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
  const ask = () => new FileCalls(shared).ask({ content_type: 'image/png' });
  expect([(await ask()).status, (await ask()).status]).toEqual([200, 403]);
  expect((await shared.submit('demo/text/echo', {})).status).toBe(202);
  await shared.stop();
});

/** Sends `sent` of the announced bytes, and disconnects. */
async function breaksOff(url: string, announced: number, sent: number): Promise<void> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: a\r\nContent-Type: image/png\r\nContent-Length: ${announced}\r\n\r\n`;
  await new Promise((done) => socket.write(Buffer.concat([Buffer.from(head), someBytes(sent)]), done));
  await until(async () => (await files.onDisk()).some((name) => name.endsWith('.part')), {
    message: 'the upload has begun',
  });
  socket.destroy();
}
