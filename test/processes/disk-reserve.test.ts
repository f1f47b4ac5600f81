import type { StatsFs } from 'node:fs';
import { DiskSpace } from '../../src/files/disk-space.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import { UnstoredResults } from '../../src/queue/runs/unstored-results.js';
import { FileCalls, someBytes } from '../support/file-calls.js';
import { scrape } from '../support/metrics.js';
import { aliveOf } from '../support/overviews.js';
import { keyHeader, problemOf, verdict } from '../support/queue-calls.js';
import { readStream } from '../support/stream-reader.js';
import { fileJobs } from '../support/file-jobs.js';
import { testQueue } from '../support/test-queue.js';
import { until } from '../support/until.js';
import { WorkerCalls } from '../support/worker-calls.js';

const { service, calls, model } = testQueue({
  models: {
    'test/model': { timeout: '2s', attempts: 3 },
    'test/followed': { timeout: '2s', attempts: 3, runner: { path: '/prompt', follow: fileJobs } },
    'test/text': { attempts: 3 },
    'test/pulled': { runner: { kind: 'worker' } },
  },
  limits: '1000/s',
});
const files = new FileCalls(service);
const megabyte = 1024 * 1024;
const gigabyte = 1024 * megabyte;
let measured: DiskSpace['measure'];

beforeAll(() => ({ measure: measured } = service.app.get(DiskSpace)));
afterEach(async () => {
  const [space, unstored] = [service.app.get(DiskSpace), service.app.get(UnstoredResults)];
  space.measure = measured;
  unstored.maxBytes = 64 * megabyte;
  await until(() => unstored.bytes === 0, { message: 'nothing is held any more' });
});

/** Simulates a disk of 100 GB with this much free space, for which the reserve stays at its 2 GB. */
function disk(freeBytes: number): void {
  const measure = { bsize: 1, blocks: 100 * gigabyte, bavail: freeBytes } as StatsFs;
  looks = 0;
  service.app.get(DiskSpace).measure = () => {
    looks++;
    return Promise.resolve(measure);
  };
}
/** How often the service has checked the disk since `disk`. */
let looks = 0;

/** Makes the database refuse writes to a table, as if its disk were full. */
async function refuse(table: string, verb = 'INSERT', each = 'STATEMENT'): Promise<() => Promise<unknown>> {
  await service.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE disk_full USING MESSAGE = 'could not extend file: No space left on device'; END $$;
    CREATE TRIGGER refuse BEFORE ${verb} ON ${table} FOR EACH ${each} EXECUTE FUNCTION refuse()`);
  return () => service.query(`DROP TRIGGER refuse ON ${table}; DROP FUNCTION refuse`);
}

/** Waits until a run has kept its lease past its deadline, and lets a rescue find the lease 38 s after that deadline. */
async function rescueOverdue(id: string): Promise<void> {
  const isKept = `SELECT FROM lease WHERE request_id = $1 AND deadline_at > started_at + interval '2 s'`;
  await until(async () => (await service.query(isKept, [id])).length > 0, {
    message: 'the run has kept its lease',
  });
  await service.query(
    `UPDATE lease SET started_at = started_at - interval '40 s', deadline_at = deadline_at - interval '40 s'
     WHERE request_id = $1`,
    [id],
  );
  await service.app.get(Rescuer).rescueFromNodes();
}

function answerWith(bytes: number): void {
  model.respond = ({ response }) => {
    response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(bytes));
  };
}

const refusesFiles = (): Promise<unknown> =>
  until(async () => (await files.ask({ content_type: 'image/png' })).status === 507, {
    message: 'uploads are refused',
  });
const heldBytes = async (): Promise<number> =>
  (await scrape(service)).value('nowserving_held_results_bytes', {}) ?? NaN;

describe('a disk whose free space is only the reserve', () => {
  test('refuses uploads with the reason, and does not affect submissions', async () => {
    const { upload_url } = await files.initiate();
    disk(2 * gigabyte - 1);
    await refusesFiles();
    const refused = await files.put(upload_url, someBytes(10));
    expect(refused.headers.get('retry-after')).toBe('30');
    expect(await problemOf(refused)).toMatchObject({
      code: 'storage_full',
      detail: expect.stringMatching(/nearly full.*reserved for its database.*RESERVED_DISK/) as string,
    });
    await calls.run('test/text');
    const notes = [expect.stringMatching(/^The disk is nearly full: files are refused.*RESERVED_DISK/)];
    expect(await (await service.get('/health/ready')).json()).toMatchObject({ status: 'ok', notes });
    const stream = await readStream(`${service.url}/v1/admin/events`, keyHeader(service.key));
    const fault = (): string | null | undefined => aliveOf(stream).at(-1)?.disk_fault;
    await until(() => fault()?.startsWith('The disk is nearly full'), {
      message: 'the stream names the fault',
    });
    disk(3 * gigabyte);
    await until(() => fault() === null, { message: 'the stream no longer names a fault' });
    await stream.drop();
    await until(async () => (await files.put(upload_url, someBytes(10))).status === 200);
  });

  test('ends an upload in the middle when it would use the reserve', async () => {
    disk(2 * gigabyte + 100_000);
    await until(async () => (await files.ask({ content_type: 'image/png' })).status === 200 && looks > 0);
    const { upload_url } = await files.initiate();
    expect(await verdict(files.put(upload_url, someBytes(2_000_000)))).toEqual([507, 'storage_full']);
    expect(await files.onDisk()).toHaveLength(1);
  });

  test('reserves at most a tenth of a small volume', async () => {
    const measure = { bsize: 1, blocks: gigabyte, bavail: 0.2 * gigabyte } as StatsFs;
    service.app.get(DiskSpace).measure = () => Promise.resolve(measure);
    await until(async () => (await files.ask({ content_type: 'image/png' })).status === 200);
    await files.store(someBytes(10));
  });

  test('holds a result in memory, past the timeout of its run, until there is room', async () => {
    answerWith(3 * megabyte);
    disk(gigabyte);
    await refusesFiles();
    const id = await calls.submit('test/model');
    await until(async () => (await heldBytes()) >= 3 * megabyte, { message: 'the result is held' });
    const isOverdue = `SELECT FROM lease WHERE request_id = $1 AND clock_timestamp() - started_at > interval '2.5 s'`;
    await until(async () => (await service.query(isOverdue, [id])).length > 0, {
      message: 'the run has taken longer than it may',
    });
    await rescueOverdue(id);
    expect((await calls.status(id)).status).toBe('IN_PROGRESS');
    disk(50 * gigabyte);
    const { file } = (await (await calls.response(id)).json()) as { file: { url: string } };
    expect(await files.bytes(file.url)).toHaveLength(3 * megabyte);
    expect(model.times(id)).toBe(1);
  });

  test('holds all files of an output past the timeout of their run', async () => {
    model.respond = ({ method, url, response }) => {
      if (url.startsWith('/files/'))
        return response.writeHead(200, { 'content-type': 'image/png' }).end(someBytes(50_000));
      response.writeHead(200, { 'content-type': 'application/json' });
      return response.end(
        JSON.stringify(method === 'POST' ? { id: 7 } : { files: ['/files/1', '/files/2'] }),
      );
    };
    disk(gigabyte);
    await refusesFiles();
    const id = await calls.submit('test/followed');
    await until(async () => (await heldBytes()) >= 100_000, { message: 'both files are held' });
    await rescueOverdue(id);
    expect((await calls.status(id)).status).toBe('IN_PROGRESS');
    disk(50 * gigabyte);
    const urls = (await (await calls.response(id)).json()) as string[];
    expect(urls).toHaveLength(2);
    for (const url of urls) expect(await files.bytes(url)).toHaveLength(50_000);
    expect(await service.query('SELECT outcome FROM attempt WHERE request_id = $1', [id])).toEqual([
      { outcome: 'succeeded' },
    ]);
  });

  test('requeues a run whose result is too large to hold, uses no attempt and does not repeat it in a loop', async () => {
    answerWith(200_000);
    service.app.get(UnstoredResults).maxBytes = 100_000;
    disk(gigabyte);
    await refusesFiles();
    const ids = [await calls.submit('test/model'), await calls.submit('test/model')];
    const isBack = async (id: string): Promise<boolean> =>
      (await service.query(`SELECT FROM attempt WHERE request_id = $1 AND outcome = 'returned'`, [id]))
        .length > 0;
    await until(async () => (await Promise.all(ids.map(isBack))).some(Boolean));
    const times = (): number => ids.reduce((sum, id) => sum + model.times(id), 0);
    const before = times();
    const since = Date.now();
    await until(() => Date.now() - since > 2_000);
    expect(times()).toBeLessThanOrEqual(Math.max(before, 2));
    const log = await service.query<{ message: string }>(
      `SELECT message FROM request_event WHERE request_id = ANY ($1) AND message IS NOT NULL`,
      [ids],
    );
    expect(log[0]!.message).toMatch(
      /^The output could not be stored: The disk of the service is nearly full/,
    );
    disk(50 * gigabyte);
    for (const id of ids) {
      await until(async () => (await calls.status(id)).status === 'COMPLETED');
      expect((await service.get(`/v1/queue/requests/${id}`)).status).toBe(200);
    }
    const failures = await service.query('SELECT failed_attempts FROM request WHERE id = ANY ($1)', [ids]);
    expect(failures).toEqual([{ failed_attempts: 0 }, { failed_attempts: 0 }]);
  });

  test('a run whose result waits for room can be cancelled', async () => {
    answerWith(1_000);
    disk(gigabyte);
    await refusesFiles();
    const id = await calls.submit('test/model');
    await until(async () => (await heldBytes()) >= 1_000);
    await calls.cancel(id);
    expect((await calls.reached(id, 'COMPLETED')).error?.code).toBe('cancelled');
  });
});

describe("a database's full disk", () => {
  test('is reported in answers and by readiness until the database accepts writes again', async () => {
    const ready = (): Promise<Response> => service.get('/health/ready');
    const mend = await refuse('request');
    const refused = await service.submit('test/text', {});
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await problemOf(refused)).toMatchObject({
      status: 503,
      code: 'unavailable',
      detail: expect.stringMatching(/^The database's disk is full/) as string,
    });
    await until(async () => (await ready()).status === 503);
    const stream = await readStream(`${service.url}/v1/admin/events`, keyHeader(service.key));
    const fault = (): string | null | undefined => aliveOf(stream).at(-1)?.disk_fault;
    await until(() => fault()?.startsWith("The database's disk is full"), {
      message: 'the stream names the fault',
    });
    expect(await (await ready()).json()).toMatchObject({
      detail: expect.stringMatching(/^Not ready: storage\. The database's disk is full/) as string,
      checks: { database: { status: 'up' }, storage: { status: 'down' } },
    });
    await mend();
    await calls.run('test/text');
    await until(async () => (await ready()).status === 200);
    await until(() => fault() === null, { message: 'the stream no longer names a fault' });
    await stream.drop();
  });

  test('delays an output in memory, and its model runs only once', async () => {
    const mend = await refuse('attempt');
    model.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify('x'.repeat(5_000)));
    };
    const id = await calls.submit('test/text');
    await until(async () => (await heldBytes()) >= 5_000);
    await mend();
    expect(await (await calls.response(id)).json()).toHaveLength(5_000);
    expect(model.times(id)).toBe(1);
  });

  test('delays an output past the timeout of its run, and its model runs only once', async () => {
    const mend = await refuse('request', 'UPDATE', 'ROW WHEN (NEW.output IS NOT NULL)');
    model.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify('x'.repeat(5_000)));
    };
    const id = await calls.submit('test/model');
    await until(async () => (await heldBytes()) >= 5_000);
    await rescueOverdue(id);
    expect((await calls.status(id)).status).toBe('IN_PROGRESS');
    await mend();
    expect(await (await calls.response(id)).json()).toHaveLength(5_000);
    expect(model.times(id)).toBe(1);
  });

  test('requeues a run whose output is too large to hold, and uses no attempt', async () => {
    service.app.get(UnstoredResults).maxBytes = 100;
    const mend = await refuse('attempt');
    model.respond = ({ response }) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify('x'.repeat(5_000)));
    };
    const id = await calls.submit('test/text');
    await until(() => model.times(id) === 1);
    await mend();
    await until(async () => (await calls.status(id)).status === 'COMPLETED');
    expect((await service.get(`/v1/queue/requests/${id}`)).status).toBe(200);
    expect(await service.query('SELECT failed_attempts FROM request WHERE id = $1', [id])).toEqual([
      { failed_attempts: 0 },
    ]);
  });

  test('is reported to a worker with 503, and the worker’s output is accepted when it is sent again', async () => {
    const id = await calls.submit('test/pulled');
    const worker = new WorkerCalls(service);
    const run = await worker.run();
    const mend = await refuse('attempt');
    const refused = await worker.output(run);
    expect(refused.headers.get('retry-after')).toBe('10');
    expect(await problemOf(refused)).toMatchObject({ status: 503, code: 'unavailable' });
    await mend();
    expect((await worker.output(run)).status).toBe(200);
    expect(await (await calls.response(id)).json()).toEqual({ done: true });
  });
});
