import { mkdir, open, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { Files } from '../../src/files/files.js';
import { Readiness } from '../../src/health/readiness.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { FileCalls, someBytes } from '../support/file-calls.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { verdict } from '../support/queue-calls.js';

const started: TestService[] = [];
afterEach(async () => {
  for (const service of started.splice(0).reverse()) await service.stop();
});

async function start(config: object = {}): Promise<TestService> {
  const service = await startTestService({ limits: '1000/s', config });
  started.push(service);
  return service;
}

const filesReady = async (service: TestService): Promise<[number, string]> => {
  const answer = await service.get('/health/ready');
  const { checks } = (await answer.json()) as { checks: { files: { status: string } } };
  return [answer.status, checks.files.status];
};

const becomes = (service: TestService, expected: [number, string]): Promise<unknown> =>
  until(async () => String(await filesReady(service)) === String(expected), {
    message: `the node is ${String(expected)}`,
    explain: () =>
      service.app
        .get(Readiness)
        .check()
        .catch((error: Error) => error.message),
  });

describe('several nodes', () => {
  test('that share a folder serve the same files, from uploads on any node', async () => {
    const dataDir = await temporaryDirectory();
    const one = await start({ dataDir });
    const other = await start({ dataDir, databaseUrl: one.databaseUrl, bootstrapApiKey: one.key });
    const [mine, theirs] = [await new FileCalls(one).store('1'), await new FileCalls(other).store('2')];
    const at = (url: string, { url: base }: TestService): string => base + new URL(url).pathname;
    expect((await new FileCalls(one).bytes(at(theirs, one))).toString()).toBe('2');
    expect((await new FileCalls(other).bytes(at(mine, other))).toString()).toBe('1');
    // An upload that one node began is sent to the other.
    const { file_url, upload_url } = await new FileCalls(one).initiate();
    const moved = new URL(upload_url);
    const sent = await new FileCalls(other).put(other.url + moved.pathname + moved.search, '3');
    expect(sent.status).toBe(200);
    expect((await new FileCalls(one).bytes(file_url)).toString()).toBe('3');
    for (const node of [one, other]) expect(await filesReady(node)).toEqual([200, 'up']);
  });

  test('with separate folders are ready until a file exists, then only the node that has it', async () => {
    const one = await start();
    const other = await start({ databaseUrl: one.databaseUrl, bootstrapApiKey: one.key });
    expect(await filesReady(other)).toEqual([200, 'up']);
    await new FileCalls(one).store('x');
    await becomes(other, [503, 'down']);
    expect((await (await other.get('/health/ready')).json()) as object).toMatchObject({
      code: 'unavailable',
      detail: expect.stringContaining('DATA_DIR'),
    });
    expect(await verdict(new FileCalls(other).ask({ content_type: 'image/png' }))).toEqual([
      503,
      'unavailable',
    ]);
    // With a marker of its own the volume is still not the shared one.
    await becomes(other, [503, 'down']);
    expect(await filesReady(one)).toEqual([200, 'up']);
  });

  test('are not ready while their volume is missing, delete nothing, and recover with it', async () => {
    const service = await start();
    const files = new FileCalls(service);
    const url = await files.store('x');
    const folder = join(service.config.dataDir, 'files');
    await rename(folder, `${folder}-away`);
    await becomes(service, [503, 'down']);
    await service.query(`UPDATE file SET state = 'removed'`);
    await service.query(
      `INSERT INTO file (id, api_key_id, name, content_type) VALUES (gen_random_uuid(), gen_random_uuid(), 'a', 'a/b')`,
    );
    await expect(service.app.get(FilePruner).runOnce()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await service.query(`SELECT FROM file WHERE state = 'removed'`)).toHaveLength(1);
    await rm(folder, { recursive: true });
    await rename(`${folder}-away`, folder);
    await service.query(`UPDATE file SET state = 'stored' WHERE state = 'removed'`);
    await becomes(service, [200, 'up']);
    expect((await files.bytes(url)).toString()).toBe('x');
  });
});

test('a node may use a new folder once no files exist', async () => {
  const one = await start();
  const files = new FileCalls(one);
  await files.store('x');
  await one.query(`UPDATE file SET expires_at = now() - interval '1 hour'`);
  await one.app.get(FilePruner).runOnce();
  const other = await start({ databaseUrl: one.databaseUrl, bootstrapApiKey: one.key });
  expect((await new FileCalls(other).bytes(await new FileCalls(other).store('y'))).toString()).toBe('y');
});

describe('a failing disk:', () => {
  type Handle = Awaited<ReturnType<typeof open>>;
  let prototype: Handle;
  let writev: Handle['writev'];
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService({ limits: '1000/s' });
    const handle = await open(process.execPath);
    prototype = Object.getPrototypeOf(handle) as Handle;
    await handle.close();
    ({ writev } = prototype);
  });
  afterEach(() => (prototype.writev = writev));
  afterAll(() => service.stop());

  const failing = (code: string, after: number): void => {
    let writes = 0;
    prototype.writev = function (this: Handle, chunks: readonly NodeJS.ArrayBufferView[], position) {
      if (++writes <= after) return writev.call(this, chunks, position);
      return Promise.reject(Object.assign(new Error(code), { code, syscall: 'write' }));
    } as Handle['writev'];
  };

  test.each([
    ['ENOSPC', 0, 507, 'storage_full'],
    ['ENOSPC', 3, 507, 'storage_full'],
    ['EDQUOT', 1, 507, 'storage_full'],
    ['EIO', 1, 503, 'unavailable'],
    ['EMFILE', 1, 503, 'unavailable'],
    ['ENOENT', 1, 503, 'unavailable'],
  ])('%s after %i writes is reported, and leaves no bytes', async (code, after, status, problem) => {
    const files = new FileCalls(service);
    const { file_url, upload_url } = await files.initiate();
    const before = await files.onDisk();
    const bytes = someBytes(4_000_000);
    failing(code, after);
    const answer = await files.put(upload_url, bytes);
    const { detail } = (await answer.clone().json()) as { detail: string };
    expect(await verdict(answer)).toEqual([status, problem]);
    // An error of a file is not reported as a database that is away.
    expect(detail).not.toMatch(/database/);
    expect(await files.onDisk()).toEqual(before);
    prototype.writev = writev;
    // Once there is room, the same upload succeeds.
    expect((await files.put(upload_url, bytes)).status).toBe(200);
    expect((await files.bytes(file_url)).equals(bytes)).toBe(true);
  });

  test('a partial write of a block loses no bytes', async () => {
    const files = new FileCalls(service);
    prototype.writev = function (this: Handle, chunks: readonly NodeJS.ArrayBufferView[], position) {
      const first = chunks[0] as Buffer;
      return writev.call(this, [first.subarray(0, Math.ceil(first.length / 2))], position);
    } as Handle['writev'];
    const bytes = someBytes(3_000_000);
    expect((await files.bytes(await files.store(bytes))).equals(bytes)).toBe(true);
  });
});

test('a node with an unwritable folder is ready, and refuses uploads with 503', async () => {
  const dataDir = await temporaryDirectory();
  await writeFile(join(dataDir, 'files'), 'this is no folder');
  const service = await start({ dataDir });
  expect(await filesReady(service)).toEqual([200, 'up']);
  expect(await verdict(new FileCalls(service).ask({ content_type: 'image/png' }))).toEqual([
    503,
    'unavailable',
  ]);
});

test('a partial file of a killed process is deleted an hour later', async () => {
  const service = await start();
  await new FileCalls(service).store('x');
  const folder = join(service.config.dataDir, 'files', 'temporary');
  await mkdir(folder, { recursive: true });
  const [old, young] = [join(folder, 'old.part'), join(folder, 'young.part')];
  for (const path of [old, young]) await writeFile(path, 'x');
  const before = new Date(Date.now() - 3_700_000);
  await utimes(old, before, before);
  await service.app.get(FilePruner).runOnce();
  await expect(stat(old)).rejects.toMatchObject({ code: 'ENOENT' });
  expect((await stat(young)).size).toBe(1);
});

test('a file of a run that waits to be stored for over an hour is kept', async () => {
  const service = await start();
  const memory = { take: () => false, release: () => undefined };
  const part = await service.app.get(Files).receive(Readable.from([someBytes(1_000)]), memory);
  const before = new Date(Date.now() - 3_700_000);
  await utimes(part.path, before, before);
  await service.app.get(FilePruner).runOnce();
  expect((await stat(part.path)).size).toBe(1_000);
  // It also looks new to other nodes with the same folder.
  expect((await stat(part.path)).mtimeMs).toBeGreaterThan(before.getTime());
  await part.discard();
});
