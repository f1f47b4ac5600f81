import { createHash, randomBytes } from 'node:crypto';
import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { createClient, file } from '../../clients/typescript/src/index.js';
import { Backoff } from '../../clients/typescript/src/worker/backoff.js';
import { WorkerCalls } from '../../clients/typescript/src/worker/calls.js';
import { Fail, Stopped } from '../../clients/typescript/src/worker/failures.js';
import { download, type FileAccess, upload } from '../../clients/typescript/src/worker/files.js';
import { TransferError } from '../../clients/typescript/src/worker/index.js';
import { tryOnce } from '../../clients/typescript/src/worker/try-once.js';
import { temporaryDirectory } from '../support/data-directory.js';
import { chunked, type Said, said, ScriptedServer, unframed } from '../support/scripted-server.js';
import { until } from '../support/until.js';

const whole = randomBytes(1_000_000);
const sha256 = createHash('sha256').update(whole).digest('hex');
const etag = `"${sha256}"`;
const maxTries = 6;

const { next } = Backoff.prototype;
beforeAll(() => void (Backoff.prototype.next = () => 0));
afterAll(() => void (Backoff.prototype.next = next));

const servers: ScriptedServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function saying(...answers: Said[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.saying(...answers);
  servers.push(server);
  return server;
}

const access = (base: string, more: Partial<FileAccess> = {}): FileAccess => ({
  calls: new WorkerCalls({ url: base, key: 'ns_k' }),
  requestId: 'r1',
  leaseToken: 't1',
  downloads: [],
  signal: new AbortController().signal,
  useless: new AbortController().signal,
  ...more,
});

/** Downloads from an origin that is not the service, to which the client makes a limited number of tries. */
const fetched = ({ url }: ScriptedServer, to?: string): Promise<Uint8Array | string> =>
  download(`${url}/a.bin`, access('http://127.0.0.1:1', { downloads: [url] }), to);

const half = said(whole.subarray(0, 600_000), { length: whole.length, ETag: etag });

/** Returns the requested rest if the file is still the same. */
function rest(head: string): Buffer {
  const [, start] = /^range: bytes=(\d+)-$/m.exec(head) ?? [];
  if (start === undefined || !head.includes(`if-range: ${etag}`)) return said(whole, { ETag: etag });
  const place = `bytes ${start}-${whole.length - 1}/${whole.length}`;
  return said(whole.subarray(Number(start)), {
    status: '206 Partial Content',
    ETag: etag,
    'Content-Range': place,
  });
}

const part = (from: number, place: string): Buffer =>
  said(whole.subarray(from), { status: '206 Partial Content', 'Content-Range': place });

test.each([true, false])(
  'an interrupted download continues where it stopped (into a file: %p)',
  async (isFile) => {
    const folder = await temporaryDirectory();
    const server = await saying(half, rest);
    const to = isFile ? join(folder, 'a.bin') : undefined;
    const had = await fetched(server, to);
    expect(whole.equals(to === undefined ? (had as Uint8Array) : await readFile(to))).toBe(true);
    expect(server.heads.map((head) => /^range: bytes=(\d+)-$/m.exec(head)?.[1])).toEqual([
      undefined,
      expect.stringMatching(/^\d+$/),
    ]);
    expect(await readdir(folder)).toEqual(isFile ? ['a.bin'] : []);
  },
);

test.each<[string, Said[]]>([
  ['without an ETag', [said(whole.subarray(0, 9), { length: whole.length }), rest]],
  ['with a weak ETag', [said(whole.subarray(0, 9), { length: whole.length, ETag: `W/${etag}` }), rest]],
  ['when the file is another', [said('another', { length: 100, ETag: `"${'0'.repeat(64)}"` }), rest]],
  ['after the wrong part', [half, part(5, `bytes 5-999999/${whole.length}`), rest]],
  ['after a part of another file', [half, part(600_000, 'bytes 600000-999999/2000000'), rest]],
  ['after a range that is not there', [half, said('', { status: '416 Range Not Satisfiable' }), rest]],
  ['after an error', [half, said('', { status: '503 Service Unavailable' }), rest]],
  ['after broken chunks', [chunked(whole.subarray(0, 9), ''), chunked(whole)]],
  ['after no answer', [Buffer.alloc(0), rest]],
])('a download restarts from the beginning: %s', async (_name, answers) => {
  const count = answers.length;
  const server = await saying(...answers);
  expect(whole.equals((await fetched(server)) as Uint8Array)).toBe(true);
  expect(server.heads).toHaveLength(count);
});

test.each([
  ['too short', said('abc', { length: 10 })],
  ['cut between chunks', chunked('abc', '')],
  ['cut within a chunk', chunked('abc', '5\r\nab')],
  // Node takes this answer for complete.
  ['cut between the chunks of a connection that is to be closed', chunked('abc', '', 'close')],
  ['without a length', unframed(whole)],
  ['without an answer', Buffer.alloc(0)],
  ['with an error that may pass', said('', { status: '500 Internal Server Error' })],
])('a download that arrives %s fails, and leaves no file', async (_name, broken) => {
  const folder = await temporaryDirectory();
  const server = await saying(broken);
  const error: unknown = await fetched(server, join(folder, 'a.bin')).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(TransferError);
  expect((error as Error).message).not.toContain('a.bin'); // a URL may be the right to read the file
  expect(server.heads).toHaveLength(maxTries);
  expect(await readdir(folder)).toEqual([]);
  await writeFile(join(folder, 'a.bin'), 'before');
  await expect(fetched(server, join(folder, 'a.bin'))).rejects.toBeInstanceOf(TransferError);
  await expect(fetched(server)).rejects.toBeInstanceOf(TransferError);
  expect(await readdir(folder)).toEqual(['a.bin']);
  expect(await readFile(join(folder, 'a.bin'), 'utf8')).toBe('before');
});

/** Timers that stay real: those of sockets and of `until`. The client's own use setTimeout. */
const realTimers = [
  'Date',
  'clearImmediate',
  'clearInterval',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
] as const;

test.each([
  ['before its answer', 0],
  ['within its body', 600_000],
])('a download that stalls for a minute %s is asked for again', async (_when, arrived) => {
  const folder = await temporaryDirectory();
  const ranges: (string | undefined)[] = [];
  const server = createServer(({ headers: { range } }, response) => {
    ranges.push(range);
    const from = Number(/\d+/.exec(range ?? '0'));
    if (ranges.length === 1 && arrived === 0) return;
    response.writeHead(from > 0 ? 206 : 200, {
      etag,
      'content-length': whole.length - from,
      ...(from > 0 && { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` }),
    });
    if (ranges.length === 1) response.write(whole.subarray(0, arrived));
    else response.end(whole.subarray(from));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  jest.useFakeTimers({ doNotFake: [...realTimers] });
  try {
    const done = download(`${url}/a`, access(url, { downloads: [url] }), join(folder, 'a'));
    done.catch(() => undefined);
    await until(async () => {
      const [partial] = await readdir(folder);
      return ranges.length === 1 && (await stat(join(folder, partial!))).size === arrived;
    });
    let passedMs = 0;
    await until(() => {
      // Two minutes at most, because after five fetch itself gives up.
      const stepMs = passedMs < 120_000 ? 10_000 : 1;
      passedMs += stepMs;
      jest.advanceTimersByTime(stepMs);
      return ranges.length === 2;
    });
    await done;
  } finally {
    jest.useRealTimers();
    server.closeAllConnections();
    server.close();
  }
  expect(whole.equals(await readFile(join(folder, 'a')))).toBe(true);
  expect(ranges).toEqual([undefined, arrived === 0 ? undefined : `bytes=${arrived}-`]);
});

test('a download that is answered 404 is not tried again', async () => {
  const server = await saying(said('{}', { status: '404 Not Found' }));
  const refused = fetched(server);
  await expect(refused).rejects.toThrow('The download was answered 404.');
  await expect(refused).rejects.toMatchObject({ name: 'TransferError', status: 404 });
  expect(server.heads).toHaveLength(1);
});

test('a file of the service must match the SHA-256 in its ETag', async () => {
  const ofService = async (...answers: Said[]): Promise<boolean> => {
    const { url } = await saying(...answers);
    return whole.equals((await download('/v1/files/1/a.bin', access(url))) as Uint8Array);
  };
  expect(await ofService(unframed(whole, { ETag: etag }))).toBe(true);
  const wrong = said(whole.subarray(1), { ETag: etag });
  expect(await ofService(wrong, said(whole, { ETag: etag }))).toBe(true);
  await expect(ofService(wrong)).rejects.toThrow('SHA-256 differs');
});

test('a download from an unavailable service is retried until the lease ends', async () => {
  const folder = await temporaryDirectory();
  const lease = new AbortController();
  const server = await saying(half, said('', { status: '503 Service Unavailable' }), Buffer.alloc(0));
  const fetching = download(
    '/v1/files/1/a.bin',
    access(server.url, { signal: lease.signal }),
    join(folder, 'a.bin'),
  );
  const outcome = expect(fetching).rejects.toEqual(new Stopped('lost'));
  await until(() => server.heads.length > 4 * maxTries);
  lease.abort(new Stopped('lost'));
  await outcome;
  expect(await readdir(folder)).toEqual([]);
});

test('a target that cannot be a file is refused before the download, and a link stays a link', async () => {
  const folder = await temporaryDirectory();
  const server = await saying(said('abc'));
  await expect(fetched(server, join(folder, 'none', 'a.bin'))).rejects.toMatchObject({ code: 'ENOENT' });
  await mkdir(join(folder, 'folder'));
  for (const to of [join(folder, 'folder'), devNull]) {
    await expect(fetched(server, to)).rejects.toThrow('is not a regular file');
  }
  expect(server.heads).toEqual([]);
  await writeFile(join(folder, 'a.bin'), '');
  await symlink(join(folder, 'a.bin'), join(folder, 'link'));
  await fetched(server, join(folder, 'link'));
  expect(await readlink(join(folder, 'link'))).toBe(join(folder, 'a.bin'));
  expect(await readFile(join(folder, 'a.bin'), 'utf8')).toBe('abc');
});

test('a download in a trial without a service must be complete too', async () => {
  const folder = await temporaryDirectory();
  const server = await saying(said('abc', { length: 10 }));
  const errors: unknown[] = [];
  const handler = (
    _input: unknown,
    run: { download: (url: string, to: { to: string }) => Promise<string> },
  ) => run.download(server.url, { to: join(folder, 'a.bin') }).catch((error: unknown) => errors.push(error));
  await tryOnce(new Map([['me/x', handler]]), '{}');
  expect(errors).toEqual([expect.any(TransferError)]);
  expect(await readdir(folder)).toEqual([]);
});

const urls = said(JSON.stringify({ file_url: '/v1/files/1/a', upload_url: '/upload' }));

test('an outage of the service uses up no try of an upload', async () => {
  const away = Array<Said>(7).fill(said('', { status: '503 Service Unavailable' }));
  const broken = said('', { status: '500 Internal Server Error' });
  const server = await saying(...away, urls, broken, urls, said('{}'));
  expect(await upload('a.bin', Buffer.from('abc'), undefined, access(server.url))).toBe('/v1/files/1/a');
});

test('an upload survives an outage of the service, and checks the stored file', async () => {
  const away = Array.from({ length: 9 }, () => said('', { status: '503 Service Unavailable' }));
  const kept = said(JSON.stringify({ size: 3, sha256 }));
  const patient = await saying(...away, urls, Buffer.alloc(0), urls, kept);
  expect(await upload('a.bin', Buffer.from('abc'), undefined, access(patient.url))).toBe('/v1/files/1/a');
  const wrong = Array.from({ length: maxTries }, () => [urls, said('{"size":2}')]).flat();
  const other = await saying(...wrong, said('', { status: '404 Not Found' }));
  await expect(upload('a.bin', Buffer.from('abc'), undefined, access(other.url))).rejects.toThrow(
    'did not store a.bin as it was sent',
  );
});

test.each([
  ['grows', (path: string) => appendFile(path, 'x')],
  ['shrinks', (path: string) => truncate(path, 5_000_000)],
])('a file that %s during its upload has its own error, in worker and client', async (_name, change) => {
  const path = join(await temporaryDirectory(), 'a.bin');
  for (const send of [
    (url: string) => upload('a.bin', path, undefined, access(url)),
    (url: string) => createClient({ url, retries: 1 }).upload(file(path)),
  ]) {
    await writeFile(path, Buffer.alloc(20_000_000));
    const server = await saying(
      (head) => {
        const [, host] = /^host: (.*)$/m.exec(head)!;
        return said(JSON.stringify({ file_url: '/f', upload_url: `http://${host}/upload` }));
      },
      async () => {
        await change(path);
        return said('', { status: '100 Continue' });
      },
    );
    const sent = send(server.url);
    await expect(sent).rejects.toThrow('changed while it was uploaded, or cannot be read');
    await sent.catch((error: unknown) =>
      expect(error).toMatchObject(error instanceof TransferError ? {} : { code: 'unreadable_file' }),
    );
  }
});

test.each([
  ['shorter than its length', said('123', { length: 6 })],
  ['cut between chunks', chunked('123', '')],
  ['cut between the chunks of a connection that is to be closed', chunked('123', '', 'close')],
  ['a number without a length', unframed('123')],
  ['nothing', said('')],
  ['half of an object', unframed('{"square": 9')],
])('an answer that is %s is asked for again', async (_name, broken) => {
  const server = await saying(broken, said('123456'));
  expect(await createClient({ url: server.url, retries: 1 }).response('1')).toBe(123456);
  const never = await saying(broken);
  await expect(createClient({ url: never.url, retries: 0 }).response('1')).rejects.toMatchObject({
    code: expect.stringMatching(/^(connection_failed|invalid_response)$/),
  });
});

test('a call of the worker protocol follows no redirect, which would get the lease and the output', async () => {
  const other = await saying(said('{}'));
  const redirects = { status: '307 Temporary Redirect', Location: `${other.url}/output` };
  const calls = new WorkerCalls({ url: (await saying(said('', redirects))).url, key: 'ns_k' });
  const call = { method: 'PUT' as const, path: '/runs/r1/output', body: '1', leaseToken: 't1' };
  expect(await calls.once(call)).toMatchObject({ status: 307 });
  expect(other.heads).toEqual([]);
});

test('a redirect to an invalid URL ends a download for good', async () => {
  const server = await saying(said('', { status: '302 Found', Location: 'http://a:port/' }));
  await expect(fetched(server)).rejects.toThrow(new Fail('A URL that is to be downloaded is not valid.'));
});

test.each(['', '[]', '"ok"', '{"runs": ['])('the answer %p to a claim is refused', async (body) => {
  const { url } = await saying(said(body));
  const calls = new WorkerCalls({ url, key: undefined });
  await expect(calls.once({ method: 'POST', path: '/claims', body: '{}' })).rejects.toThrow(
    'not a JSON object',
  );
});
