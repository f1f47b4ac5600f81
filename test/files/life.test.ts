import { FilePruner } from '../../src/files/duties/file-pruner.js';
import { Pruner } from '../../src/queue/retention/duties/pruner.js';
import { CollectionCalls } from '../support/collection-calls.js';
import { FileCalls, fileId } from '../support/file-calls.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader, unknownId, verdict } from '../support/queue-calls.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/model': { concurrency: 8 }, 'test/brief': { retention_payload: '1d' } },
  limits: '1000/s',
});
const files = new FileCalls(service);
const collection = new CollectionCalls(service);

const prune = (): Promise<void> => service.app.get(FilePruner).runOnce();

/** Returns the requests that name the file, and whether their payload is deleted. */
async function uses(url: string): Promise<Record<string, boolean>> {
  const rows = await service.query<{ id: string; over: boolean }>(
    'SELECT request_id AS id, is_over AS over FROM file_use WHERE file_id = $1',
    [fileId(url)],
  );
  return Object.fromEntries(rows.map(({ id, over }) => [id, over]));
}

async function aged(url: string, hours: number): Promise<void> {
  await service.query(`UPDATE file SET expires_at = expires_at - $2 * interval '1 hour' WHERE id = $1`, [
    fileId(url),
    hours,
  ]);
}

/** Expects that row and bytes are deleted. */
async function expectGone(...urls: string[]): Promise<void> {
  const ids = urls.map(fileId);
  for (const url of urls) expect(await verdict(fetch(url))).toEqual([404, 'unknown_file']);
  expect(await service.query('SELECT id FROM file WHERE id = ANY ($1::uuid[])', [ids])).toEqual([]);
  expect(await service.query('SELECT FROM file_use WHERE file_id = ANY ($1::uuid[])', [ids])).toEqual([]);
  expect((await files.onDisk()).filter((name) => ids.some((id) => name.startsWith(id)))).toEqual([]);
}

const run = (url: string, more: object = {}): Promise<string> =>
  calls.run('test/model', { image: url, ...more });

describe('a file that no request names', () => {
  test('is deleted after a day, and so is an upload that was only initiated', async () => {
    const [kept, old] = [await files.store('kept'), await files.store('old')];
    const { file_url: begun } = await files.initiate();
    await aged(old, 24.1);
    await aged(begun, 24.1);
    await aged(kept, 23.9);
    await prune();
    await expectGone(old, begun);
    expect((await files.bytes(kept)).toString()).toBe('kept');
  });

  test('is not retained by a request of another key', async () => {
    const url = await files.store('x');
    const other = await calls.newKey();
    const id = await calls.submit('test/model', { image: url }, keyHeader(other));
    expect(await uses(url)).toEqual({});
    await calls.reached(id, 'COMPLETED');
    await aged(url, 24.1);
    await prune();
    await expectGone(url);
  });
});

describe('a file that requests name', () => {
  test('is retained as long as one of them exists, and deleted with the last one', async () => {
    const url = await files.store('x');
    const [one, other] = [await run(url), await run(url)];
    await aged(url, 1_000);
    await prune();
    expect((await fetch(url)).status).toBe(200);
    expect((await collection.erase(one)).status).toBe(204);
    await prune();
    expect((await fetch(url)).status).toBe(200);
    expect(await uses(url)).toEqual({ [other]: false });
    expect((await collection.erase(other)).status).toBe(204);
    // The file is unknown from the erasure on, before any bytes are removed.
    expect(await verdict(fetch(url))).toEqual([404, 'unknown_file']);
    await prune();
    await expectGone(url);
  });

  test.each([
    ['in the depth of an input', (url: string) => ({ a: [{ b: `see ${url}?x=1` }] })],
    [
      'under another address',
      (url: string) => ({ a: url.replace(/^http:\/\/[^/]+/, 'https://a.example/b') }),
    ],
  ])('is found %s', async (_, input) => {
    const url = await files.store('x');
    const id = await calls.submit('test/model', input(url));
    expect(await uses(url)).toEqual({ [id]: false });
  });

  test('is found where slashes are escaped', async () => {
    const url = await files.store('x');
    const body = JSON.stringify({ image: url }).replaceAll('/', '\\/');
    const answer = await fetch(`${service.url}/v1/queue/test/model`, {
      method: 'POST',
      headers: keyHeader(service.key),
      body,
    });
    const { request_id: id } = (await answer.json()) as { request_id: string };
    expect(await uses(url)).toEqual({ [id]: false });
  });

  test('is found in an output too', async () => {
    const url = await files.store('x');
    const id = await calls.run('test/model', { body: JSON.stringify({ image: 1, url }) });
    // The input contains the output as a text, but the file is found only once.
    expect(await uses(url)).toEqual({ [id]: false });
    const plain = await files.store('y');
    model.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ plain }));
    };
    const made = await calls
      .run('test/model', {})
      .finally(() => (model.respond = (call) => model['play'](call)));
    expect(await uses(plain)).toEqual({ [made]: false });
    expect((await collection.erase(made)).status).toBe(204);
    await prune();
    await expectGone(plain);
  });

  test('is recorded for each of many concurrent submissions, single or in a batch', async () => {
    const url = await files.store('x');
    const plain = await inParallel(20, Array.from({ length: 40 }), () =>
      calls.submit('test/model', { image: url }),
    );
    const once = await inParallel(4, ['a', 'b', 'c', 'd'], (key) =>
      calls.submit('test/model', { image: url }, { 'idempotency-key': key }),
    );
    const batch = await fetch(`${service.url}/v1/queue/requests`, {
      method: 'POST',
      headers: keyHeader(service.key),
      body: JSON.stringify({
        requests: Array.from({ length: 5 }, () => ({ model_id: 'test/model', input: { image: url } })),
      }),
    });
    const { results } = (await batch.json()) as { results: { request_id: string }[] };
    const ids = [...plain, ...once, ...results.map(({ request_id }) => request_id)];
    expect(await uses(url)).toEqual(Object.fromEntries(ids.map((id) => [id, false])));
  });

  test('is named by a retry as well', async () => {
    const url = await files.store('x');
    const id = await run(url);
    const answer = await collection.retry(id);
    const { request_id: again } = (await answer.json()) as { request_id: string };
    await calls.reached(again, 'COMPLETED');
    expect((await collection.erase(id)).status).toBe(204);
    await prune();
    expect(await uses(url)).toEqual({ [again]: false });
    expect((await fetch(url)).status).toBe(200);
  });

  test('is deleted when the payload retention of its model is over', async () => {
    const url = await files.store('x');
    const id = await calls.run('test/brief', { image: url });
    const { '0': row } = await service.query<{ id: string }>(
      `UPDATE request SET completed_at = now() - interval '2 days' WHERE id = $1 RETURNING id`,
      [id],
    );
    expect(row).toBeDefined();
    // The id contains the time of the submission, so an older id has to stand in for it.
    const old = unknownId().replace(/^.{8}-.{4}/, '01890000-0000');
    await service.query(`SELECT ensure_partitions(uuid_time($1::uuid)::date, 1)`, [old]);
    await service.query('UPDATE file_use SET request_id = $2 WHERE request_id = $1', [id, old]);
    await service.query('UPDATE request SET id = $2 WHERE id = $1', [id, old]);
    await service.app.get(Pruner).runOnce();
    await prune();
    await expectGone(url);
  });

  test('is not retained by a submission that was never written', async () => {
    const url = await files.store('x');
    const stray = '01890000-0000-7000-8000-00000000abcd';
    await service.query('INSERT INTO file_use (request_id, file_id, in_input) VALUES ($1, $2, true)', [
      stray,
      fileId(url),
    ]);
    await prune();
    await expectGone(url);
  });
});

test('a file is either deleted or named by a request, even if both happen at once', async () => {
  for (let round = 0; round < 8; round++) {
    const url = await files.store('x');
    await aged(url, 24.1);
    const [id] = await Promise.all([calls.submit('test/model', { image: url }), prune()]);
    await prune();
    const isNamed = (await uses(url))[id] === false;
    expect((await fetch(url)).status).toBe(isNamed ? 200 : 404);
  }
});
