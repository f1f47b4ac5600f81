import { type Body, FileCalls, someBytes } from '../support/file-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';
import { WorkerCalls } from '../support/worker-calls.js';
import { FilePruner } from '../../src/files/duties/file-pruner.js';

const maxStoredBytes = 1_000_000;
const maxStoredFiles = 30;
const { service, calls, model } = testQueue({
  models: { 'test/model': {}, 'test/pulled': { runner: { kind: 'worker' } } },
  limits: '1000/s',
  config: { maxStoredBytes, maxStoredFiles },
});
const files = new FileCalls(service);
let key: string;
beforeEach(async () => (key = await calls.newKey()));

const stored = async (of = key): Promise<object> => {
  const answer = await service.get('/v1/key', { headers: keyHeader(of) });
  return ((await answer.json()) as { allowances: { stored: object } }).allowances.stored;
};
const store = (bytes: Body): Promise<string> => files.store(bytes, 'image/png', 'cat.png', key);
const begin = (): Promise<{ file_url: string; upload_url: string }> =>
  files.initiate('image/png', 'cat.png', key);
const submit = (to: string, input: object = {}): Promise<Response> =>
  service.submit(to, input, keyHeader(key));
const ask = (): Promise<Response> => files.ask({ content_type: 'image/png' }, keyHeader(key));

/** Compares the stored counts of all keys with the rows themselves. */
async function expectTrueCounts(): Promise<void> {
  const counted = await service.query(
    `SELECT api_key_id, files, bytes FROM stored_files WHERE files <> 0 OR bytes <> 0 ORDER BY 1`,
  );
  const rows = await service.query(
    `SELECT api_key_id, count(*) AS files, coalesce(sum(size) FILTER (WHERE state = 'stored'), 0)::bigint AS bytes
     FROM file WHERE state <> 'removed' GROUP BY 1 ORDER BY 1`,
  );
  expect(counted).toEqual(rows);
}
afterEach(expectTrueCounts);

test('a key sees its stored bytes and files, and an upload beyond its quota is refused', async () => {
  const limits = { max_bytes: maxStoredBytes, max_files: maxStoredFiles };
  expect(await stored()).toEqual({ bytes: 0, files: 0, ...limits });
  await store(someBytes(600_000));
  const { file_url, upload_url } = await begin();
  expect(await stored()).toEqual({ bytes: 600_000, files: 2, ...limits });
  const refused = await files.put(upload_url, someBytes(600_000));
  expect(await problemOf(refused)).toMatchObject({
    status: 507,
    code: 'storage_full',
    detail: expect.stringMatching(
      /600000 of their 1000000 bytes.*Erase requests.*retention.*the operator/,
    ) as string,
  });
  expect(await verdict(fetch(file_url))).toEqual([404, 'unknown_file']);
  // A body that fits may be sent to the same URL.
  expect((await files.put(upload_url, someBytes(400_000))).status).toBe(200);
  expect(await stored()).toMatchObject({ bytes: 1_000_000, files: 2 });
  expect(await verdict(ask())).toEqual([507, 'storage_full']);
});

test('the quota is each key’s own', async () => {
  await store(someBytes(maxStoredBytes));
  const other = await calls.newKey();
  await files.store(someBytes(1_000), 'image/png', 'cat.png', other);
  expect(await stored(other)).toMatchObject({ bytes: 1_000, files: 1 });
});

test('an upload without a length is refused when it exceeds the quota', async () => {
  await store(someBytes(900_000));
  const { upload_url } = await begin();
  const body = ReadableStream.from(Array.from({ length: 30 }, () => someBytes(10_000))) as unknown as Body;
  const answer = files.put(upload_url, body, 'image/png', { duplex: 'half' });
  expect(await verdict(answer)).toEqual([507, 'storage_full']);
  expect(await stored()).toMatchObject({ bytes: 900_000 });
});

test('parallel uploads do not exceed the quota', async () => {
  const urls = await Promise.all(Array.from({ length: maxStoredFiles }, begin));
  const answers = await inParallel(maxStoredFiles, urls, async ({ upload_url }, at) => {
    // Half of the uploads do not announce their length.
    const body =
      at % 2 === 0 ? someBytes(99_000) : ReadableStream.from([someBytes(50_000), someBytes(49_000)]);
    const answer = await files.put(upload_url, body as Body, 'image/png', { duplex: 'half' });
    await answer.arrayBuffer();
    return answer.status;
  });
  expect(answers.filter((status) => status === 200).length).toBeGreaterThan(0);
  expect(answers.filter((status) => status !== 200 && status !== 507)).toEqual([]);
  const { bytes } = (await stored()) as { bytes: number };
  expect(bytes).toBe(99_000 * answers.filter((status) => status === 200).length);
  expect(bytes).toBeLessThanOrEqual(maxStoredBytes);
  // A refused upload reserves no bytes.
  const left = maxStoredBytes - bytes;
  const refused = urls[answers.indexOf(507)]!;
  expect((await files.put(refused.upload_url, someBytes(left))).status).toBe(200);
});

test('the quota counts files as well, including those that were only initiated', async () => {
  for (let i = 0; i < maxStoredFiles; i++) await begin();
  const refused = await ask();
  expect(await problemOf(refused)).toMatchObject({
    status: 507,
    code: 'storage_full',
    detail: expect.stringMatching(/30 of its 30 files/) as string,
  });
  await service.query(`UPDATE file SET expires_at = now() - interval '1 hour' WHERE state = 'initiated'`);
  await service.app.get(FilePruner).runOnce();
  expect(await stored()).toMatchObject({ files: 0 });
  await begin();
});

test('files that are initiated in parallel do not exceed the quota', async () => {
  const statuses = await inParallel(
    maxStoredFiles * 2,
    Array.from({ length: maxStoredFiles * 2 }),
    async () => {
      const answer = await ask();
      await answer.arrayBuffer();
      return answer.status;
    },
  );
  expect(statuses.filter((status) => status === 200)).toHaveLength(maxStoredFiles);
  expect(statuses.filter((status) => status === 507)).toHaveLength(maxStoredFiles);
  expect(await stored()).toMatchObject({ files: maxStoredFiles });
});

test('erasing a request frees the quota of its files', async () => {
  const url = await store(someBytes(maxStoredBytes));
  const submitted = await submit('test/model', { image: url });
  const { request_id: id } = (await submitted.json()) as { request_id: string };
  await calls.reached(id, 'COMPLETED');
  expect(await verdict(ask())).toEqual([507, 'storage_full']);
  const erased = await fetch(`${service.url}/v1/queue/requests/${id}`, {
    method: 'DELETE',
    headers: keyHeader(key),
  });
  expect(erased.ok).toBe(true);
  await service.app.get(FilePruner).runOnce();
  expect(await stored()).toMatchObject({ files: 0, bytes: 0 });
  await begin();
});

test('output files of a model count against the quota, and are never refused', async () => {
  await store(someBytes(maxStoredBytes));
  model.respond = ({ response }) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(5_000));
  };
  const submitted = await submit('test/model');
  const { request_id: id } = (await submitted.json()) as { request_id: string };
  const { file } = (await (await calls.response(id)).json()) as { file: { url: string } };
  expect((await fetch(file.url)).status).toBe(200);
  expect(await stored()).toMatchObject({ bytes: maxStoredBytes + 5_000, files: 2 });
});

test('files that a worker uploads for a run count against the quota, and are never refused', async () => {
  await store(someBytes(maxStoredBytes));
  const submitted = await submit('test/pulled');
  expect(submitted.status).toBe(202);
  const worker = new WorkerCalls(service);
  const run = await worker.run();
  const initiated = await worker.ofRun('POST', run, 'files', '{"content_type": "image/png"}');
  const { file_url, upload_url } = (await initiated.json()) as { file_url: string; upload_url: string };
  // The right is valid for this URL only.
  const changed = new URL(upload_url);
  changed.searchParams.delete('of');
  expect(await verdict(files.put(changed.href, 'abc'))).toEqual([403, 'invalid_upload_url']);
  expect((await files.put(upload_url, someBytes(5_000))).status).toBe(200);
  expect(await files.bytes(file_url)).toHaveLength(5_000);
  expect(await stored()).toMatchObject({ bytes: maxStoredBytes + 5_000, files: 2 });
});
