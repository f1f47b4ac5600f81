import type { AdminModelDto } from '../../src/admin/models/models.dto.js';
import { Circuits } from '../../src/queue/circuits/circuits.js';
import { startTestService, type TestService, until } from '../support/index.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';

const id = 'test/model';
const concurrency = 6;
const [refusing, busy, good] = [new ModelServer(), new ModelServer(), new ModelServer()];
const servers = [refusing, busy, good];
const { respond } = busy;
let service: TestService;
let calls: QueueCalls;

beforeAll(async () => {
  for (const server of servers) await server.start();
  const urls = servers.map(({ url }) => `${url.replace('//', '//user:secret@')}?token=secret`);
  const models = [{ id, runner: { kind: 'http', urls }, concurrency, attempts: 1 }];
  service = await startTestService({ models: JSON.stringify({ models }), limits: 'off' });
  calls = new QueueCalls(service);
  Object.assign(service.app.get(Circuits).times, { probeMs: 20, maxProbeMs: 100, steadyMs: 100 });
});
afterAll(async () => {
  for (const server of servers) server.release();
  await service.stop();
  for (const server of servers) await server.stop();
});

const running = (): number[] => servers.map((server) => server.running);

async function allSucceed(ids: string[]): Promise<void> {
  for (const one of ids) expect(await calls.reached(one, 'COMPLETED')).toMatchObject({ success: true });
}

const shown = async (): Promise<AdminModelDto> => {
  const answer = await service.get('/v1/admin/models', { headers: keyHeader(service.key) });
  const { data } = (await answer.json()) as { data: AdminModelDto[] };
  expect(JSON.stringify(data)).not.toContain('secret');
  return data.find((one) => one.id === id)!;
};

const origin = ({ url }: ModelServer): string => new URL(url).origin;

test('a run goes to the address with the fewest runs', async () => {
  for (const server of servers) server.hold();
  const ids = await calls.submitAll(concurrency, id);
  await until(() => running().join() === '2,2,2', { message: 'each has two', explain: running });
  for (const call of Array.from(busy.calls)) await busy.answer(call.id);
  ids.push(...(await calls.submitAll(2, id)));
  await until(() => running().join() === '2,2,2', {
    message: 'the two are where two ended',
    explain: running,
  });
  for (const server of servers) server.release();
  await allSucceed(ids);
  expect(busy.calls).toHaveLength(4);
});

test('addresses that are away get only probes, the healthy one gets all slots, and no attempt is used', async () => {
  await refusing.stop();
  busy.respond = ({ response }) => response.writeHead(503, { 'retry-after': '1' }).end('starting');
  good.hold();
  const ids = await calls.submitAll(40, id);
  const before = busy.calls.length;
  for (let left = ids.length; left > 0; left--) {
    const wanted = Math.min(left, concurrency);
    const unanswered = (): Call[] => good.calls.filter(({ response }) => !response.writableEnded);
    await until(() => unanswered().length >= wanted, { message: `${wanted} run`, explain: running });
    await good.answer(unanswered()[0]!.id);
  }
  good.release();
  await allSucceed(ids);
  // About this many may have been sent before the first answer; then one a second.
  expect(busy.calls.length - before).toBeLessThan(ids.length / 2);
  const outcomes = await service.query<{ outcome: string; count: number }>(
    `SELECT outcome, count(*)::integer AS count FROM attempt
     WHERE request_id = ANY ($1) GROUP BY outcome ORDER BY outcome`,
    [ids],
  );
  expect(outcomes).toEqual([
    { outcome: 'succeeded', count: ids.length },
    { outcome: 'unreached', count: expect.any(Number) },
  ]);
  for (const one of ids) expect((await calls.status(one)).attempt).toBe(1);
});

test('operators see the addresses that are away, without secrets, while the model is available', async () => {
  const model = await until(async () => {
    const found = await shown();
    return found.nodes[0]!.addresses_away.length === 2 && found;
  });
  expect(model).toMatchObject({ availability: 'available', unavailable_reason: null });
  expect(model).toMatchObject({ preset: null, addresses: servers.map(origin), circuit: 'on' });
  expect(model.nodes).toMatchObject([{ circuit: 'closed', slots: concurrency }]);
  const away = model.nodes[0]!.addresses_away;
  expect(new Map(away.map(({ address, reason }) => [address, reason]))).toEqual(
    new Map([
      [origin(refusing), 'The connection to the model could not be made (ECONNREFUSED).'],
      [origin(busy), expect.stringContaining('503')],
    ]),
  );
});

test('an address appears as probing while its probe is in progress', async () => {
  const { times } = service.app.get(Circuits);
  const [{ steadyMs }, refusal] = [times, busy.respond];
  const held: Call[] = [];
  times.steadyMs = 60_000;
  busy.respond = (call) => void held.push(call);
  await until(async () => {
    if (held.length === 0) await calls.submit(id);
    return held.length > 0;
  });
  // The other address is probed too, for the moment that it takes to refuse a connection.
  const isSeen = async (): Promise<boolean> =>
    (await shown()).nodes[0]!.addresses_away.some(
      ({ address, circuit }) => address === origin(busy) && circuit === 'probing',
    );
  await until(isSeen, { message: 'it is seen' });
  busy.respond = refusal;
  for (const call of held) refusal(call);
  times.steadyMs = steadyMs;
});

test('the model is unavailable when all addresses are away, and continues with the first that is back', async () => {
  await good.stop();
  const ids = await calls.submitAll(3, id);
  await until(async () => (await calls.status(ids[2]!)).reason === 'unavailable');
  const model = await until(async () => {
    const found = await shown();
    return found.unavailable_reason !== null && found;
  });
  expect(model.availability).toBe('unavailable');
  for (const server of servers) expect(model.unavailable_reason).toContain(origin(server));
  await good.start();
  await allSucceed(ids);
  await until(async () => (await shown()).availability === 'available');
});

test('an address that is back is used again', async () => {
  await refusing.start();
  busy.respond = respond;
  await until(
    async () => {
      await calls.run(id);
      return (await service.query('SELECT FROM circuit')).length === 0;
    },
    { message: 'all circuits are closed', timeoutMs: 10_000 },
  );
  for (const server of servers) server.hold();
  const ids = await calls.submitAll(concurrency, id);
  await until(() => running().join() === '2,2,2', { message: 'each has two', explain: running });
  for (const server of servers) server.release();
  await allSucceed(ids);
  await until(async () => (await shown()).nodes[0]!.addresses_away.length === 0, {
    message: 'operators see that none is away',
    explain: shown,
  });
});
