import type { OverviewDto } from '../../src/admin/live/live.dto.js';
import type { AdminModelListDto } from '../../src/admin/models/models.dto.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { ObservingDatabase } from '../../src/database/observing-database.js';
import { QueueFronts } from '../../src/overview/queue-fronts.js';
import { keyHeader } from '../support/queue-calls.js';
import { startTestService, until } from '../support/index.js';
import { readStream, type StreamReader } from '../support/stream-reader.js';
import { testQueue } from '../support/test-queue.js';

const { service, calls, model } = testQueue({
  models: { 'test/narrow': { concurrency: 1 }, 'test/wide': { concurrency: 50 } },
  limits: 'off',
});

const open: StreamReader[] = [];

afterEach(async () => {
  for (const stream of open.splice(0)) await stream.drop();
});

async function watch(key = service.key): Promise<StreamReader> {
  const stream = await readStream(`${service.url}/v1/admin/events`, keyHeader(key));
  open.push(stream);
  return stream;
}

const shown = (stream: StreamReader): Promise<OverviewDto> =>
  until(() => stream.data.at(-1) as unknown as OverviewDto | undefined, { message: 'something is shown' });

test('ten open overviews cost the database no more than one, and its reads stop when all are closed', async () => {
  const counts: Record<string, number> = {};
  const database = service.app.get(ObservingDatabase);
  const running = await calls.submit('test/narrow', { hold: true });
  const waiting = await calls.submit('test/narrow', { hold: true });
  const streams = await Promise.all(Array.from({ length: 10 }, () => watch()));
  await Promise.all(streams.map(shown));
  database.onStatement = (name) => (counts[name] = (counts[name] ?? 0) + 1);
  await until(() => counts['cluster_snapshot'] === 2, { message: 'the cluster is looked at' });
  expect(Math.max(...Object.values(counts))).toBeLessThanOrEqual(3);
  expect(service.app.get(QueueFronts).marksOf('test/narrow')).toBeDefined();
  for (const stream of open.splice(0)) await stream.drop();
  await until(() => service.app.get(QueueFronts).marksOf('test/narrow') === undefined, {
    message: 'nothing is looked at any more',
  });
  database.onStatement = undefined;
  await model.answer(running);
  await model.answer(waiting);
});

test('the count of started runs survives its process and covers all nodes', async () => {
  const today = async (url: string): Promise<number> => {
    const answer = await fetch(`${url}/v1/admin/models`, { headers: keyHeader(service.key) });
    const { data } = (await answer.json()) as AdminModelListDto;
    return data.find(({ id }) => id === 'test/wide')!.started_today;
  };
  const before = await today(service.url);
  await calls.run('test/wide');
  await calls.run('test/wide');
  const models = model.file({ 'test/wide': { concurrency: 50 } });
  const other = () =>
    startTestService({ models, config: { databaseUrl: service.databaseUrl, nodeName: 'other' } });
  const first = await other();
  await until(async () => (await today(first.url)) === before + 2, { message: 'another node knows' });
  await first.stop();
  const second = await other();
  expect(await today(second.url)).toBe(before + 2);
  await second.stop();
});

test('an overview’s stream ends after its key is revoked', async () => {
  const secret = await calls.newKey({ name: 'observer', scopes: ['observe'] });
  const stream = await watch(secret);
  await shown(stream);
  const [key] = await service.query<{ id: string }>(`SELECT id FROM api_key WHERE name = 'observer'`);
  await service.app.get(KeysService).revoke(key!.id);
  await stream.ended;
});

test('a request’s stream ends after its key is revoked, and continues for another key', async () => {
  const running = await calls.submit('test/narrow', { hold: true });
  const path = `${service.url}/v1/admin/requests/${running}/status/stream`;
  const secret = await calls.newKey({ name: 'follower', scopes: ['payloads'] });
  const [stream, other] = [
    await readStream(path, keyHeader(secret)),
    await readStream(path, keyHeader(service.key)),
  ];
  open.push(stream, other);
  await until(() => stream.events.length > 0 && other.events.length > 0);
  const [key] = await service.query<{ id: string }>(`SELECT id FROM api_key WHERE name = 'follower'`);
  await service.app.get(KeysService).revoke(key!.id);
  await stream.ended;
  await model.answer(running);
  await other.event(({ status }) => status === 'COMPLETED', 'the other sees its end');
});
