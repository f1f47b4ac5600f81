import type {
  OverviewChangesDto,
  OverviewDto,
  QueueEntryPageDto,
  ShareListDto,
} from '../../src/admin/live/live.dto.js';
import type { AdminModelDto, AdminModelListDto } from '../../src/admin/models/models.dto.js';
import { OverviewSource } from '../../src/admin/live/overview-source.js';
import { Handles } from '../../src/auth/handles.js';
import { version } from '../../src/config/package.js';
import { ObservingDatabase } from '../../src/database/observing-database.js';
import { readShares } from '../../src/overview/queries/shares.js';
import { Rescuer } from '../../src/queue/runs/duties/rescuer.js';
import type { AdminNodeListDto } from '../../src/overview/dto/nodes.dto.js';
import { keyHeader, verdict } from '../support/queue-calls.js';
import { until } from '../support/index.js';
import { aliveOf, overviewsOf } from '../support/overviews.js';
import { readStream, type StreamReader } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: {
    'test/narrow': { concurrency: 1, attempts: 2 },
    'test/arrival': { concurrency: 1, order: 'arrival' },
    'test/wide': { concurrency: 50 },
  },
  limits: 'off',
  config: { nodeName: 'alpha' },
});

let observer: string;
const open: StreamReader[] = [];

beforeAll(async () => {
  observer = await calls.newKey({ name: 'observer', scopes: ['observe'] });
});

afterEach(async () => {
  for (const stream of open.splice(0)) await stream.drop();
});

const get = (path: string, key = observer): Promise<Response> =>
  service.get(`/v1/admin/${path}`, { headers: keyHeader(key) });
const json = async <T>(answer: Promise<Response>): Promise<T> => {
  const response = await answer;
  expect(response.status).toBe(200);
  return (await response.json()) as T;
};

async function watch(key = observer): Promise<StreamReader> {
  const stream = await readStream(`${service.url}/v1/admin/events`, keyHeader(key));
  open.push(stream);
  return stream;
}

/** Returns the first overview of a stream that fits. */
const shown = (stream: StreamReader, fits: (overview: OverviewDto) => boolean): Promise<OverviewDto> =>
  until(() => overviewsOf(stream).find(fits), {
    message: 'the overview shows it',
    explain: () => overviewsOf(stream).at(-1),
  });

const of = ({ models }: OverviewDto, id: string): OverviewDto['models'][number] =>
  models.find((one) => one.id === id)!;

const handle = (id: string): string => service.app.get(Handles).handleOf(id);

test('the live views need a key with the scope observe', async () => {
  const caller = await calls.newKey({ name: 'caller' });
  for (const path of ['events', 'models', 'queue?model=test/narrow', 'shares?model=test/narrow', 'nodes']) {
    expect(await verdict(service.get(`/v1/admin/${path}`))).toEqual([401, 'missing_key']);
    expect(await verdict(get(path, caller))).toEqual([403, 'forbidden']);
  }
});

test('the stream sends the current state at once, and then the changes', async () => {
  const [running, first, second] = await calls.submitAll(3, 'test/narrow', { hold: true });
  await model.arrived(running!);
  const stream = await watch();
  expect(stream.response.headers['content-type']).toBe('text/event-stream');
  const overview = await shown(stream, (one) => of(one, 'test/narrow').running === 1);
  expect(overview.nodes).toEqual([
    { id: expect.any(String), name: expect.any(String), role: 'all', state: 'ready' },
  ]);
  const narrow = of(overview, 'test/narrow');
  expect(narrow).toMatchObject({
    waiting: 2,
    delayed: 0,
    held: 0,
    running: 1,
    slots: 1,
    availability: 'available',
    started_today: 1,
    completed_last_hour: 0,
    unavailable_since: null,
    concurrency: { current: 1, base: 1, override: null },
    nodes: [{ slots: 1, running: 1, circuit: 'closed' }],
    queue: { per_mark: 1, marks: [{ request_id: handle(first!) }, { request_id: handle(second!) }] },
    waiting_by_key: [{ name: 'bootstrap', waiting: 2, running: 1 }],
  });
  expect(narrow.history).toHaveLength(60);
  expect(narrow.history.at(-1)!.started + narrow.history.at(-2)!.started).toBe(1);
  expect(Date.parse(narrow.oldest_waiting_at!)).toBeLessThanOrEqual(Date.now());
  await calls.cancel(first!);
  const next = await shown(stream, (one) => of(one, 'test/narrow').waiting === 1);
  expect(of(next, 'test/narrow').queue!.marks).toMatchObject([{ request_id: handle(second!) }]);
  await model.answer(running!);
  await shown(stream, (one) => of(one, 'test/narrow').started_today === 2);
  await model.answer(second!);
  await shown(stream, (one) => of(one, 'test/narrow').completed_last_hour === 3);
});

test('the first event has the whole state, and later events only the changes', async () => {
  const [running, waiting] = await calls.submitAll(2, 'test/narrow', { hold: true });
  const stream = await watch();
  await shown(stream, (one) => of(one, 'test/narrow').running === 1);
  await calls.cancel(waiting!);
  await model.answer(running!);
  await shown(stream, (one) => of(one, 'test/narrow').running === 0);
  const [first, ...others] = stream.events.filter(({ type }) => type !== 'alive');
  expect([first!.type, new Set(others.map(({ type }) => type))]).toEqual(['overview', new Set(['changes'])]);
  const length = (data: unknown): number => JSON.stringify(data).length;
  const changes = others.map(({ data }) => data as unknown as OverviewChangesDto);
  expect(Math.max(...changes.map(length))).toBeLessThan(length(first!.data) / 4);
  expect(changes.flatMap(({ models }) => models.map(({ id }) => id))).toContain('test/narrow');
  // The state assembled from changes equals the whole state that a later stream receives.
  const later = await watch();
  const whole = await shown(later, () => true);
  const together = await until(() => overviewsOf(stream).find(({ at }) => at === whole.at), {
    message: 'the first sees the same moment',
  });
  expect(together).toEqual(whole);
});

test('an idle stream sends a sign of life every 3 s, with the time of its figures', async () => {
  const source = service.app.get(OverviewSource);
  expect(source.aliveEveryMs).toBe(3_000);
  source.aliveEveryMs = 20;
  try {
    const stream = await watch();
    const last = await until(
      () => aliveOf(stream).length > 2 && aliveOf(stream).at(-1)!.read_at && aliveOf(stream).at(-1)!,
      {
        message: 'it says so again and again',
      },
    );
    expect(last).toMatchObject({ database: 'up', database_away_since: null, disk_fault: null });
    expect(Date.parse(last.at) - Date.parse(last.read_at!)).toBeLessThan(60_000);
    expect(Math.abs(Date.parse(last.at) - Date.now())).toBeLessThan(60_000);
  } finally {
    source.aliveEveryMs = 3_000;
  }
});

test('the stream shows request ids to a key that may see payloads', async () => {
  const [running, waiting] = await calls.submitAll(2, 'test/arrival', { hold: true });
  const stream = await watch(service.key);
  const overview = await shown(stream, (one) => of(one, 'test/arrival').queue?.marks.length === 1);
  expect(of(overview, 'test/arrival')).toMatchObject({
    queue: { marks: [{ request_id: waiting }] },
    waiting_by_key: [{ name: 'bootstrap', waiting: 1 }],
  });
  await model.answer(running!);
  await model.answer(waiting!);
});

test.each(['test/narrow', 'test/arrival'])(
  'without a stream, the requests of each key that wait for %s are counted',
  async (modelId) => {
    const others: Record<string, string>[] = [];
    for (let i = 0; i < 8; i++) others.push(keyHeader(await calls.newKey({ name: `key ${i}` })));
    const mine = await calls.submitAll(2, modelId, { hold: true });
    await model.arrived(mine[0]!);
    const ids = [];
    for (const key of others)
      for (let i = 0; i < 2; i++) ids.push(await calls.submit(modelId, { hold: true }, key));
    const list = async () => (await json<AdminModelListDto>(get('models'))).data;
    for (const read of [list, async () => [await json<AdminModelDto>(get(`models/${modelId}`))]])
      await until(async () => {
        const shown = (await read()).find(({ id }) => id === modelId)!;
        const counted = shown.waiting_by_key.map(({ name, waiting, running }) => [name, [waiting, running]]);
        expect(Object.fromEntries(counted)).toEqual({
          bootstrap: [1, 1],
          ...Object.fromEntries(others.map((_, i) => [`key ${i}`, [2, 0]])),
        });
        return true;
      });
    for (const id of [...ids, mine[1]!]) await calls.cancel(id);
    await model.answer(mine[0]!);
  },
);

test('the queue lists runs and the positions of waiting requests, in pages', async () => {
  const ids = await calls.submitAll(6, 'test/narrow', { hold: true });
  await model.arrived(ids[0]!);
  const answer = await get('queue?model=test/narrow&limit=3', service.key);
  const page = await json<QueueEntryPageDto>(Promise.resolve(answer));
  const next = `${service.url}/v1/admin/queue?cursor=${page.next_cursor}`;
  expect(answer.headers.get('link')).toBe(`<${next}>; rel="next"`);
  expect(page.data.map(({ request_id, state, position }) => [request_id, state, position])).toEqual([
    [ids[0], 'running', null],
    [ids[1], 'waiting', 0],
    [ids[2], 'waiting', 1],
    [ids[3], 'waiting', 2],
  ]);
  expect(page.data[0]).toMatchObject({ node: 'alpha', started_at: expect.any(String) });
  expect(page.data[1]).toMatchObject({ key: { name: 'bootstrap' }, priority: 'normal', attempt: 0 });
  const last = await get(`queue?cursor=${page.next_cursor}`);
  expect(last.headers.get('link')).toBeNull();
  const rest = await json<QueueEntryPageDto>(Promise.resolve(last));
  expect(rest.data.map(({ request_id, position }) => [request_id, position])).toEqual([
    [handle(ids[4]!), 3],
    [handle(ids[5]!), 4],
  ]);
  expect(rest.next_cursor).toBeNull();
  for (const id of ids) await model.answer(id);
});

test.each([
  ['queue', 400, 'invalid_query'],
  ['queue?model=test/narow', 404, 'unknown_model'],
  ['queue?model=test/narrow&limit=0', 400, 'invalid_query'],
  ['queue?cursor=WzFd', 400, 'invalid_query'],
  ['queue?cursor=!', 400, 'invalid_query'],
  ['queue?modell=test/narrow', 400, 'invalid_query'],
  ['shares?model=', 400, 'invalid_query'],
])('%s is answered %s %s', async (path, status, code) => {
  expect(await verdict(get(path))).toEqual([status, code]);
});

test('shares state the part of the capacity that each key has now and had in the last hour', async () => {
  const other = await calls.newKey({ name: 'other', weight: 2 });
  const running = await calls.submit('test/narrow', { hold: true });
  await model.arrived(running);
  const waiting = await calls.submit('test/narrow', { hold: true }, keyHeader(other));
  const { data } = await json<ShareListDto>(get('shares?model=test/narrow'));
  expect(data).toMatchObject([
    { key: { name: 'bootstrap' }, weight: 1, max_running: null, running: 1, share_now: 1 },
    { key: { name: 'other' }, weight: 2, waiting: 1, running: 0, share_now: 0, starts_last_hour: 0 },
  ]);
  expect(data[0]!.starts_last_hour).toBeGreaterThan(0);
  expect(data[0]!.share_last_hour).toBe(1);
  await model.answer(running);
  await model.answer(waiting);
});

test('a run that never reached its model does not count as a start of its key', async () => {
  const id = await calls.run('test/arrival');
  const starts = async (): Promise<unknown[]> => [
    (await readShares(service.app.get(ObservingDatabase), 'test/arrival', undefined))[0]!.startsLastHour,
    ...(await service.query(
      `SELECT starts_last_hour, running FROM key_shares WHERE model_id = 'test/arrival'`,
    )),
  ];
  const before = await starts();
  expect(before[0]).toBeGreaterThan(0);
  await service.query(
    `INSERT INTO attempt (request_id, attempt, node_id, started_at, ended_at, outcome)
     SELECT $1, number, gen_random_uuid(), now() - interval '1 second', now(), 'unreached'
     FROM generate_series(101, 200) AS number`,
    [id],
  );
  expect(await starts()).toEqual(before);
});

test('each node lists the durations and the number of failures of its recent runs', async () => {
  for (let i = 0; i < 5; i++) await calls.run('test/wide');
  await calls.run('test/wide', { status: 418 });
  const { data } = await json<AdminNodeListDto>(get('nodes'));
  expect(data[0]!.models.find(({ model_id }) => model_id === 'test/wide')).toMatchObject({
    recent_runs: 6,
    recent_failed: 1,
    run_time: { p50: expect.any(Number), p95: expect.any(Number) },
  });
});

test('nodes list their models and slots, and a silent node the time until which its slots rest', async () => {
  const at = new Date(Date.now() - 5_500);
  const silent = '01a1fbb3-65c9-706a-ab5f-d44e3660d916';
  // The node would be given up half a second from now, with its slots.
  const rescuer = service.app.get(Rescuer);
  await rescuer.stop();
  // One commit, because a list that is read between two would have the node without its slots.
  await service.query(
    `WITH joined AS (
       INSERT INTO node (id, name, role, version, heartbeat_at) VALUES ($1, 'silent', 'all', '0.0.9', $2)
     )
     INSERT INTO slot_grant (model_id, node_id, slots) VALUES ('test/wide', $1, 3)`,
    [silent, at],
  );
  const data = await until(
    async () => {
      const { data: nodes } = await json<AdminNodeListDto>(get('nodes'));
      return nodes.length === 2 && nodes;
    },
    { message: 'the silent node is seen' },
  );
  expect(data).toMatchObject([
    { name: 'alpha', role: 'all', state: 'ready', version, draining_since: null },
    {
      name: 'silent',
      version: '0.0.9',
      running: 0,
      slots: 3,
      state: expect.stringMatching(/fenced|lost/),
      models: [
        { model_id: 'test/wide', slots: 3, resting_until: new Date(at.getTime() + 6_000).toISOString() },
      ],
    },
  ]);
  expect(data[0]!.models).toContainEqual(
    expect.objectContaining({
      model_id: 'test/narrow',
      circuit: 'closed',
      resting_until: null,
      reason: null,
    }),
  );
  await service.query('DELETE FROM slot_grant WHERE node_id = $1', [silent]);
  await service.query('DELETE FROM node WHERE id = $1', [silent]);
  rescuer.start();
});

test('a lost node stays listed for an hour, with the number of its lost runs', async () => {
  const id = '01a1fbb3-65c9-706a-ab5f-d44e3660d917';
  const run = await calls.submit('test/narrow', { hold: true });
  await model.arrived(run);
  await service.query(
    `WITH gone AS (
       INSERT INTO node (id, name, role, version, heartbeat_at)
       VALUES ($1, 'gone', 'scheduler', '0.0.9', now() - interval '1 minute')
     )
     UPDATE lease SET node_id = $1 WHERE request_id = $2`,
    [id, run],
  );
  const find = async (): Promise<AdminNodeListDto['data'][number] | undefined> =>
    (await json<AdminNodeListDto>(get('nodes'))).data.find(({ name }) => name === 'gone');
  const node = await until(async () => {
    const found = await find();
    return found?.lost_at && found;
  });
  expect(node).toMatchObject({
    id,
    role: 'scheduler',
    version: '0.0.9',
    state: 'lost',
    running: 0,
    slots: 0,
    models: [],
    lost_runs: 1,
    lost_at: expect.any(String),
    heartbeat_at: expect.any(String),
  });
  await calls.cancel(run);
  await model.answer(run);
  await calls.reached(run, 'COMPLETED');
  await service.query(`UPDATE node_name SET lost_at = now() - interval '61 minutes' WHERE id = $1`, [id]);
  await until(async () => (await find()) === undefined);
});

test('the oldest waiting request is the one submitted first, not the next to start', async () => {
  const newcomer = await calls.newKey({ name: 'newcomer' });
  const batch = await calls.submitAll(3, 'test/narrow', { hold: true });
  const [first, running, oldest] = batch;
  await model.answer(first!);
  await model.arrived(running!);
  const next = await calls.submit('test/narrow', { hold: true }, keyHeader(newcomer));
  const [row] = await service.query<{ at: Date }>('SELECT created_at AS at FROM request WHERE id = $1', [
    oldest,
  ]);
  const overview = await shown(await watch(), (one) => {
    const { oldest_waiting_at: at, waiting } = of(one, 'test/narrow');
    return waiting === 2 && at !== null && Math.abs(Date.parse(at) - row!.at.getTime()) < 2;
  });
  expect(of(overview, 'test/narrow').queue!.marks[0]).toMatchObject({ request_id: handle(next) });
  for (const id of [next, ...batch.reverse()]) await calls.cancel(id);
  await calls.reached(running!, 'COMPLETED');
});
