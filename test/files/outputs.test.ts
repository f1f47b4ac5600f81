import { DatabaseUnavailable } from '../../src/errors/database-error.js';
import { FileRows } from '../../src/files/file-rows.js';
import { Files } from '../../src/files/files.js';
import type { Content } from '../../src/files/queries/uploads.js';
import { bytesOf, FILE_STORE, type FileStore } from '../../src/files/stores/file-store.js';
import { FileCalls, fileId, sha256, someBytes } from '../support/file-calls.js';
import { verdict } from '../support/queue-calls.js';
import { fileJobs } from '../support/file-jobs.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';

const maxFileBytes = 300_000;
const { service, calls, model } = testQueue({
  models: {
    'test/model': {},
    'test/fractal': { runner: { kind: 'demo', demo: 'fractal' } },
    'test/followed': { concurrency: 1, timeout: '2s', runner: { path: '/prompt', follow: fileJobs } },
  },
  limits: '1000/s',
  config: { maxFileBytes },
});
const files = new FileCalls(service);

interface Output {
  file: { url: string; content_type: string; size: number; sha256: string };
}

/** Runs one request that the model answers this way. */
async function answered(type: string, body: Buffer | string, headers: object = {}): Promise<string> {
  model.respond = ({ response }) => {
    response.writeHead(200, { ...(type !== '' && { 'content-type': type }), ...headers }).end(body);
  };
  return calls.run('test/model', {});
}

test.each([
  ['image/png', 'output.png'],
  ['audio/mpeg', 'output.mp3'],
  ['video/mp4', 'output.mp4'],
  ['application/octet-stream', 'output.bin'],
  ['application/pdf', 'output.pdf'],
  ['model/gltf-binary', 'output.glb'],
  ['application/zip', 'output.zip'],
  ['Image/SVG+XML; charset=utf-8', 'output.svg'],
])('a model may answer with %s, which becomes a file', async (type, name) => {
  const bytes = someBytes(200_000);
  const id = await answered(type, bytes);
  const { file } = (await (await calls.response(id)).json()) as Output;
  expect(file).toEqual({
    url: `${service.url}/v1/files/${fileId(file.url)}/${name}`,
    content_type: type,
    size: 200_000,
    sha256: sha256(bytes),
  });
  const answer = await fetch(file.url);
  expect(answer.headers.get('content-type')).toBe(type);
  expect(Buffer.from(await answer.arrayBuffer()).equals(bytes)).toBe(true);
  const uses = await service.query('SELECT request_id, in_input FROM file_use WHERE file_id = $1', [
    fileId(file.url),
  ]);
  expect(uses).toEqual([{ request_id: id, in_input: false }]);
});

test('the URL of an output file has the address at which its request was submitted', async () => {
  const answer = await fetch(`${service.url.replace('127.0.0.1', 'localhost')}/v1/queue/test/model`, {
    method: 'POST',
    headers: { authorization: `Key ${service.key}` },
    body: '{}',
  });
  const { request_id: id } = (await answer.json()) as { request_id: string };
  const { file } = (await (await calls.response(id)).json()) as Output;
  expect(file.url).toMatch(/^http:\/\/localhost:\d+\/v1\/files\//);
});

test('a file that is too large fails the run, and leaves nothing', async () => {
  const before = await files.onDisk();
  const id = await answered('image/png', someBytes(maxFileBytes + 1));
  expect(await verdict(calls.response(id))).toEqual([502, 'model_error']);
  expect((await calls.status(id)).error?.message).toMatch(/too large/);
  expect(await files.onDisk()).toEqual(before);
});

test.each(['INSERT', 'UPDATE'])(
  'an output file is kept until the database accepts its row again (%s)',
  async (verb) => {
    await service.query(`CREATE SEQUENCE times_refused;
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM nextval('times_refused'); RAISE disk_full; END $$;
      CREATE TRIGGER refuse BEFORE ${verb} ON file FOR EACH STATEMENT EXECUTE FUNCTION refuse()`);
    model.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(1_000));
    };
    const id = await calls.submit('test/model', {});
    await until(
      async () => (await service.query('SELECT FROM times_refused WHERE last_value > 1')).length > 0,
    );
    await service.query('DROP TRIGGER refuse ON file; DROP FUNCTION refuse; DROP SEQUENCE times_refused');
    const { file } = (await (await calls.response(id)).json()) as Output;
    expect((await fetch(file.url)).status).toBe(200);
    expect(model.times(id)).toBe(1);
  },
);

test('an answer that breaks off leaves nothing', async () => {
  const before = await files.onDisk();
  model.respond = ({ response, socket }) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1_000 });
    response.write('abc', () => socket.destroy());
  };
  const id = await calls.run('test/model', {});
  expect(await verdict(calls.response(id))).toEqual([502, 'model_unavailable']);
  expect(await files.onDisk()).toEqual(before);
});

test.each([
  ['is not answered', undefined],
  ['stops in the middle', 'abc'],
])('a run times out if the second file of its output %s, and leaves no file', async (_, beginning) => {
  const before = await files.onDisk();
  let isHanging = true;
  const cancelled: string[] = [];
  model.respond = ({ method, url, response }) => {
    const file = { 'content-type': 'image/png', 'content-length': 1_000 };
    if (method === 'DELETE') cancelled.push(url);
    if (url === '/files/2' && isHanging) {
      if (beginning !== undefined) response.writeHead(200, file).write(beginning);
    } else if (url.startsWith('/files/')) response.writeHead(200, file).end(someBytes(1_000));
    else {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(method === 'POST' ? { id: 7 } : { files: ['/files/1', '/files/2'] }));
    }
  };
  const id = await calls.run('test/followed');
  expect((await calls.status(id)).error?.code).toBe('timed_out');
  expect(await files.onDisk()).toEqual(before);
  await until(() => cancelled.includes('/jobs/7'), { message: 'the run is cancelled at its server' });
  // Its slot is free again.
  isHanging = false;
  const output = (await (await calls.response(await calls.run('test/followed'))).json()) as string[];
  expect(await Promise.all(output.map(async (url) => (await files.bytes(url)).length))).toEqual([
    1_000, 1_000,
  ]);
});

test('an answer of any other type fails, and the error names the accepted types', async () => {
  const id = await answered('text/html', '<p>');
  expect((await calls.status(id)).error?.message).toMatch(
    /expected application\/json.*a picture.*got text\/html/,
  );
});

test('the fractal demo returns a file if its input asks for one', async () => {
  const input = { prompt: 'a cat', width: 32, height: 24, steps: 16 };
  const id = await calls.run('test/fractal', { ...input, output: 'file' });
  const { image, seed } = (await (await calls.response(id)).json()) as {
    image: Output['file'];
    seed: number;
  };
  expect(image).toMatchObject({ content_type: 'image/png', width: 32, height: 24 });
  const png = await files.bytes(image.url);
  expect([png.subarray(1, 4).toString(), sha256(png), png.length]).toEqual(['PNG', image.sha256, image.size]);
  // Operators see the output in the list.
  const admin = { headers: { authorization: `Key ${service.key}` } };
  const list = (await (await service.get('/v1/admin/requests?limit=1', admin)).json()) as {
    data: { output_type: string }[];
  };
  expect(list.data[0]).toMatchObject({ request_id: id, output_type: 'image/png' });
  const picture = await service.get(`/v1/admin/requests/${id}/picture`, admin);
  expect([picture.url, (await picture.arrayBuffer()).byteLength]).toEqual([image.url, png.length]);
  const plain = await calls.run('test/fractal', input);
  expect(await (await calls.response(plain)).json()).toEqual({
    image: { url: `data:image/png;base64,${png.toString('base64')}`, width: 32, height: 24 },
    seed,
  });
});

/** Keeps a file of a run, with another way to end its row. Returns how that went, and the id of the file. */
async function keepEndingBy(
  bytes: Buffer,
  end: (content: Content, stop: AbortController) => Promise<boolean>,
): Promise<{ keeping: PromiseSettledResult<unknown>; id: string }> {
  const requestId = await answered('image/png', someBytes(10));
  const [rows, stop] = [service.app.get(FileRows), new AbortController()];
  let id = '';
  rows.end = (content) => {
    id = content.id;
    return end(content, stop);
  };
  const chunks = (async function* () {
    yield Buffer.from(bytes);
  })();
  const memory = { take: () => true, release: () => undefined };
  const all = service.app.get(Files);
  const part = await all.receive(chunks, memory);
  const maker = { requestId, signal: stop.signal };
  const [keeping] = await Promise.allSettled([all.keep(part, { contentType: 'image/png' }, maker)]);
  Reflect.deleteProperty(rows, 'end');
  return { keeping, id };
}

const endRow = (content: Content): Promise<boolean> =>
  FileRows.prototype.end.call(service.app.get(FileRows), content);

test('a stored file keeps its bytes if the answer of the database is lost and the run is stopped', async () => {
  const bytes = someBytes(20_000);
  const { keeping, id } = await keepEndingBy(bytes, async (content, stop) => {
    await endRow(content);
    stop.abort();
    throw new DatabaseUnavailable('away', undefined);
  });
  expect(keeping).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  const headers = { authorization: `Key ${service.key}` };
  const answer = await fetch(`${service.url}/v1/files/${id}/output.png`, { headers });
  expect(answer.status).toBe(200);
  expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(sha256(bytes));
});

test('a file that was removed while it was written leaves no bytes', async () => {
  const { keeping, id } = await keepEndingBy(someBytes(20_000), async (content) => {
    await service.query('DELETE FROM file WHERE id = $1', [content.id]);
    return endRow(content);
  });
  expect(keeping.status).toBe('rejected');
  const store = service.app.get<FileStore>(FILE_STORE);
  expect(await store.read(bytesOf(id, 1), { start: 0, end: 1 })).toBeUndefined();
});
