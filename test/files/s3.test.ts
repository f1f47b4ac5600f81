import { readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { FileCalls, fileId, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';
import { startS3, type TestS3 } from '../support/s3-server.js';

let s3: TestS3;
let folder: string;
let service: TestService;
let files: FileCalls;

/** Handles a call on its way to the store, and returns whether it did; undefined: all calls are forwarded. */
let fault: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
const way = createServer((request, response) => {
  if (fault?.(request, response) === true) return;
  const { method, url, headers } = request;
  s3.forward({ method, path: url, headers }, request, response);
});

beforeAll(async () => {
  folder = await temporaryDirectory();
  s3 = await startS3(folder, 'bucket');
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  service = await startTestService({
    limits: '1000/s',
    config: {
      maxFileBytes: 32 * 1024 * 1024,
      files: { kind: 's3', bucket: 'bucket', prefix: 'some/where' },
      s3Endpoint: `http://127.0.0.1:${(way.address() as AddressInfo).port}`,
      // A value that comes from a file, as secrets do, may have the line end of the file.
      environment: {
        AWS_ACCESS_KEY_ID: `${s3.accessKeyId}\n`,
        AWS_SECRET_ACCESS_KEY: `${s3.secretAccessKey}\n`,
      },
    },
  });
  files = new FileCalls(service);
});
afterEach(() => (fault = undefined));
afterAll(async () => {
  await service.stop();
  way.closeAllConnections();
  await new Promise((resolve) => way.close(resolve));
  await s3.stop();
});

/** Returns the objects that the bucket has of a file. */
const inBucket = async (id: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes(id));

test('files are stored in the bucket, and served by the service whole and in ranges', async () => {
  const bytes = someBytes(20_000_000);
  const url = await files.store(bytes, 'video/mp4', 'a.mp4');
  expect(url.startsWith(service.url)).toBe(true);
  expect((await inBucket(fileId(url))).every((name) => name.startsWith('bucket/some/where/'))).toBe(true);
  expect((await files.bytes(url)).equals(bytes)).toBe(true);
  const part = await fetch(url, { headers: { range: 'bytes=1000-1999' } });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/20000000']);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1_000, 2_000))).toBe(true);
  expect(await (await fetch(await files.store(''))).text()).toBe('');
  expect(await files.onDisk()).toEqual([]);
});

test('a deleted file is deleted from the bucket too', async () => {
  const id = fileId(await files.store('x'));
  expect(await inBucket(id)).not.toEqual([]);
  await service.query(`UPDATE file SET expires_at = now() - interval '1 hour' WHERE id = $1`, [id]);
  await service.app.get(FilePruner).runOnce();
  expect(await inBucket(id)).toEqual([]);
  expect(await service.query('SELECT FROM file WHERE id = $1', [id])).toEqual([]);
});

test.each([
  [
    'refuses the signature',
    (request: IncomingMessage) => {
      request.headers['x-amz-date'] = '20200101T000000Z';
      return false;
    },
  ],
  ['hangs up', (request: IncomingMessage) => request.socket.destroy() !== undefined],
  [
    'says that the bucket is not there',
    (request: IncomingMessage) => {
      request.url = request.url!.replace('/bucket/', '/other/');
      return false;
    },
  ],
])('an upload fails and leaves nothing behind if the store %s', async (_, faulty) => {
  const { file_url, upload_url } = await files.initiate();
  fault = faulty;
  expect(await verdict(files.put(upload_url, someBytes(100_000)))).toEqual([503, 'unavailable']);
  expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
  expect([await inBucket(fileId(file_url)), await files.onDisk()]).toEqual([[], []]);
  fault = undefined;
  expect((await files.put(upload_url, 'x')).status).toBe(200);
});

test('a call that the store fails briefly is sent again with all bytes', async () => {
  let failures = 2;
  fault = (request, response) => {
    if (failures-- <= 0) return false;
    request.resume().on('end', () => response.writeHead(503).end());
    return true;
  };
  const bytes = someBytes(500_000);
  expect((await files.bytes(await files.store(bytes))).equals(bytes)).toBe(true);
});

test('a store with a different clock gets signatures by its own time', async () => {
  const aheadMs = -3_600_000;
  const refused: unknown[] = [];
  const stored: Buffer[] = [];
  fault = (request, response) => {
    const [day, hour] = String(request.headers['x-amz-date']).split('T') as [string, string];
    const text = `${day.replace(/(....)(..)(..)/, '$1-$2-$3')}T${hour.replace(/(..)(..)(..)/, '$1:$2:$3')}`;
    const theirs = Date.now() + aheadMs;
    const isRefused = Math.abs(Date.parse(text) - theirs) > 900_000;
    response.setHeader('date', new Date(theirs).toUTCString());
    if (isRefused) refused.push(text);
    else request.on('data', (chunk: Buffer) => stored.push(chunk));
    request.resume().on('end', () => response.writeHead(isRefused ? 403 : 200).end());
    return true;
  };
  await files.store('first');
  await files.store('second');
  expect(Buffer.concat(stored).toString()).toBe('firstsecond');
  expect(refused).toHaveLength(1);
  fault = undefined;
  await files.store('by the right time again');
});

test('a call on a kept connection that the store closes is sent again', async () => {
  const url = await files.store('x');
  const used = new WeakSet<Socket>();
  let closed = 0;
  fault = (request) => {
    if (!used.has(request.socket)) return used.add(request.socket) === undefined;
    closed += 1;
    return request.socket.destroy() !== undefined;
  };
  for (let times = 0; times < 3; times += 1) expect((await files.bytes(url)).toString()).toBe('x');
  expect(closed).toBeGreaterThan(0);
});

test('bytes that change on the way are refused by the store', async () => {
  const { upload_url } = await files.initiate();
  fault = (request) => {
    const sent = 'x-amz-content-sha256';
    if (request.method === 'PUT')
      request.headers[sent] = String(request.headers[sent]).replace(/^./, (c) => (c === '0' ? '1' : '0'));
    return false;
  };
  expect(await verdict(files.put(upload_url, 'x'))).toEqual([503, 'unavailable']);
});

test('a download from a store that cannot be read is answered 503', async () => {
  const url = await files.store('x');
  fault = (_, response) => response.writeHead(500).end() !== undefined;
  expect(await verdict(fetch(url))).toEqual([503, 'unavailable']);
});

test.each([
  ['fewer bytes than it has, as if they were all', 206, 5_000],
  ['more bytes than it has', 206, 20_000],
  ['all of it for a part from its beginning on', 200, 10_000],
])('a download of a file breaks off if the store returns %s', async (_, status, count) => {
  const url = await files.store(someBytes(10_000));
  fault = (__, response) => response.writeHead(status).end(someBytes(count)) !== undefined;
  const range = { range: 'bytes=0-7499' };
  const [whole, part] = await Promise.all(
    [fetch(url), fetch(url, { headers: range })].map((call) =>
      call.then((answer) => answer.arrayBuffer()).catch((error: unknown) => error),
    ),
  );
  if (status === 206) expect(whole).toBeInstanceOf(TypeError);
  expect(part).toBeInstanceOf(TypeError);
});

test('a range from a store without ranges is answered 503', async () => {
  const url = await files.store(someBytes(10_000));
  fault = (_, response) => response.writeHead(200).end(someBytes(10_000)) !== undefined;
  const part = fetch(url, { headers: { range: 'bytes=100-199' } });
  expect(await verdict(part)).toEqual([503, 'unavailable']);
});

test('a store that breaks off in the middle breaks the download off', async () => {
  const url = await files.store(someBytes(10_000));
  fault = (_, response) => {
    response.writeHead(206, { 'content-length': '10000' });
    response.write(someBytes(5_000), () => response.destroy());
    return true;
  };
  await expect(fetch(url).then((answer) => answer.arrayBuffer())).rejects.toThrow();
});

test('a node with files on disk is not ready while the files of the service are in a bucket', async () => {
  await files.store('x');
  const { databaseUrl, key } = service;
  const other = await startTestService({ config: { databaseUrl, bootstrapApiKey: key } });
  expect((await other.get('/health/ready')).status).toBe(503);
  expect((await service.get('/health/ready')).status).toBe(200);
  await other.stop();
});
