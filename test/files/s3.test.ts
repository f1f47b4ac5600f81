import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { FileCalls, fileId, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';
import { startS3, type TestS3 } from '../support/s3-server.js';

let s3: TestS3;
let folder: string;
beforeAll(async () => {
  folder = await temporaryDirectory();
  s3 = await startS3(folder, 'bucket');
});
afterAll(() => s3.stop());

const started: TestService[] = [];
afterEach(async () => {
  for (const service of started.splice(0)) await service.stop();
});

async function start(more: { endpoint?: string; secret?: string; maxFileBytes?: number } = {}) {
  const { endpoint = s3.url, secret = s3.secretAccessKey, maxFileBytes = 32 * 1024 * 1024 } = more;
  const service = await startTestService({
    limits: '1000/s',
    config: {
      maxFileBytes,
      files: { kind: 's3', bucket: 'bucket', prefix: 'some/where' },
      s3Endpoint: endpoint,
      environment: { AWS_ACCESS_KEY_ID: s3.accessKeyId, AWS_SECRET_ACCESS_KEY: secret },
    },
  });
  started.push(service);
  return new FileCalls(service);
}

const stored = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true })).filter((name) => name.includes('some/where') && /-\d+/.test(name));

test('files are in the bucket, and come through the service, whole and in parts', async () => {
  const files = await start();
  const bytes = someBytes(20_000_000);
  const url = await files.store(bytes, 'video/mp4', 'a.mp4');
  expect(url.startsWith(files.service.url)).toBe(true);
  expect((await files.bytes(url)).equals(bytes)).toBe(true);
  const part = await fetch(url, { headers: { range: 'bytes=1000-1999' } });
  expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/20000000']);
  expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(1_000, 2_000))).toBe(true);
  expect(await (await fetch(await files.store(''))).text()).toBe('');
  expect(await files.onDisk()).toEqual([]);
});

test('what goes, goes from the bucket too', async () => {
  const files = await start();
  const id = fileId(await files.store('x'));
  expect((await stored()).filter((name) => name.includes(id))).not.toEqual([]);
  await files.service.query(`UPDATE file SET expires_at = now() - interval '1 hour' WHERE id = $1`, [id]);
  await files.service.app.get(FilePruner).runOnce();
  expect((await stored()).filter((name) => name.includes(id))).toEqual([]);
  expect(await files.service.query('SELECT FROM file')).toEqual([]);
});

test('a store that refuses the signature takes nothing, and nothing is left behind', async () => {
  const files = await start({ secret: 'another' });
  const before = await stored();
  const { file_url, upload_url } = await files.initiate();
  expect(await verdict(files.put(upload_url, 'x'))).toEqual([503, 'unavailable']);
  expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
  expect([await stored(), await files.onDisk()]).toEqual([before, []]);
});

test('a store that is away is said, and an upload that was too large never comes to it', async () => {
  const files = await start({ endpoint: 'http://127.0.0.1:1', maxFileBytes: 1_000 });
  const { upload_url } = await files.initiate();
  expect(await verdict(files.put(upload_url, someBytes(1_001)))).toEqual([413, 'body_too_large']);
  expect(await verdict(files.put(upload_url, 'x'))).toEqual([503, 'unavailable']);
  expect(await files.onDisk()).toEqual([]);
});

test('what fails for a moment is sent again, with all its bytes', async () => {
  let failures = 2;
  const flaky: Server = createServer((request, response) => {
    if (failures-- > 0) return void request.resume().on('end', () => response.writeHead(503).end());
    const { method, url, headers } = request;
    // The signature is of the host that the service named.
    void s3.forward({ method, path: url, headers }, request, response);
  });
  await new Promise<void>((resolve) => flaky.listen(0, '127.0.0.1', resolve));
  const files = await start({ endpoint: `http://127.0.0.1:${(flaky.address() as AddressInfo).port}` });
  const bytes = someBytes(500_000);
  expect((await files.bytes(await files.store(bytes))).equals(bytes)).toBe(true);
  flaky.closeAllConnections();
  await new Promise((resolve) => flaky.close(resolve));
});

test('a node that looks at a disk is not ready where the files are in a bucket', async () => {
  const files = await start();
  await files.store('x');
  const { databaseUrl, key } = files.service;
  const other = await startTestService({ config: { databaseUrl, bootstrapApiKey: key } });
  started.unshift(other);
  expect((await other.get('/health/ready')).status).toBe(503);
  expect((await files.service.get('/health/ready')).status).toBe(200);
});
