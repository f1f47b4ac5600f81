import { QueryFailedError } from 'typeorm';
import type { Config } from '../../src/config/config.js';
import { QueueService } from '../../src/queue/queue.service.js';
import { LongPolls } from '../../src/requests/long-polls.js';
import { maxBeatSeconds, maxClaimSeconds } from '../../src/workers/worker-calls.js';
import { until } from '../support/index.js';
import { onNextCall } from '../support/on-next-call.js';
import { keyHeader, type Status, verdict } from '../support/queue-calls.js';
import { testNodes } from '../support/test-nodes.js';

const nodes = testNodes({ 'test/narrow': { concurrency: 1 } });
const { model } = nodes;

async function start(config: Partial<Config>) {
  const calls = await nodes.start(config);
  return { service: calls.service, calls, polls: calls.service.app.get(LongPolls) };
}

const prefer = { prefer: 'wait=60' };
const applied = (response: Response): string | null => response.headers.get('preference-applied');

test('a stopping service answers long polls with the current state, without Preference-Applied', async () => {
  const { service, calls, polls } = await start({ shutdownGraceMs: 0 });
  const running = await calls.submit('test/narrow', { attempts: [{ hold: true }, {}] });
  await model.arrived(running);
  const waiting = await calls.submit('test/narrow');
  const answers = [
    service.get(`${calls.path(running)}/status`, { headers: prefer }),
    service.get(`${calls.path(waiting)}/status`, { headers: prefer }),
    service.get(calls.path(waiting), { headers: prefer }),
    service.submit('test/narrow', {}, prefer),
  ];
  await until(() => polls.size === 4, { explain: () => polls.size });
  await service.stop();
  const [one, two, three, four] = await Promise.all(answers);
  for (const answer of [one, two, three, four]) expect(applied(answer!)).toBeNull();
  // Its run was handed back before.
  expect(await one!.json()).toMatchObject({ status: 'IN_QUEUE', queue_position: 0 });
  expect(await two!.json()).toMatchObject({ status: 'IN_QUEUE', queue_position: 1 });
  expect(await verdict(three!)).toEqual([400, 'not_completed']);
  expect(four!.status).toBe(202);
  const { request_id: id } = (await four!.json()) as Status;
  expect((await (await start({})).calls.reached(id, 'COMPLETED')).success).toBe(true);
});

test('a stopping service continues long polls while runs may end', async () => {
  const { service, calls, polls } = await start({ shutdownGraceMs: 30_000 });
  const id = await calls.submit('test/narrow', { hold: true });
  await model.arrived(id);
  const answer = service.get(calls.path(id), { headers: prefer });
  await until(() => polls.size === 1);
  const stopping = service.stop();
  await model.answer(id, '"in time"');
  // The service may stop between the end of the run and its news. The answer then does not say that it waited.
  expect(await (await answer).text()).toBe('"in time"');
  await stopping;
  expect(polls.size).toBe(0);
});

test('a long poll ends before a proxy would time out', async () => {
  const { service, calls, polls } = await start({});
  // nginx, HAProxy and ALB give up after 60 s of silence.
  expect(polls.maxHoldMs).toBeLessThanOrEqual(55_000);
  expect(Math.max(maxClaimSeconds, maxBeatSeconds)).toBeLessThanOrEqual(55);
  polls.maxHoldMs = 50;
  const id = await calls.submit('test/narrow', { hold: true });
  await model.arrived(id);
  const status = await service.get(`${calls.path(id)}/status`, { headers: prefer });
  expect([status.status, applied(status)]).toEqual([200, 'wait=60']);
  expect(await status.json()).toMatchObject({ status: 'IN_PROGRESS' });
  const submitted = await service.submit('test/narrow', {}, prefer);
  expect([submitted.status, applied(submitted)]).toEqual([202, 'wait=60']);
  await model.answer(id);
});

test('a call of Replicate or Runpod that waits ends before a proxy would time out, and its request continues', async () => {
  const { service, calls, polls } = await start({ adapters: ['replicate', 'runpod'] });
  polls.maxHoldMs = 50;
  const post = async (path: string): Promise<{ id: string; status: string }> => {
    const headers = { authorization: `Bearer ${service.key}`, prefer: 'wait' };
    const body = '{"input":{"hold":true}}';
    const answer = await fetch(service.url + path, { method: 'POST', headers, body });
    return (await answer.json()) as { id: string; status: string };
  };
  const prediction = await post('/replicate/v1/models/test/narrow/predictions');
  expect(prediction.status).toBe('starting');
  const job = await post('/runpod/v2/test/narrow/runsync?wait=300000');
  expect(job.status).toBe('IN_QUEUE');
  const waiting = await service.get(`/runpod/v2/test/narrow/status-sync/${job.id}?wait=90000`);
  expect(await waiting.json()).toEqual(job);
  expect(await calls.count('abandoned_call')).toBe(0);
  for (const { id } of [prediction, job]) {
    await model.answer(id);
    expect(await calls.reached(id, 'COMPLETED')).toMatchObject({ success: true });
  }
});

test('a submission whose output the database cannot give now is answered as accepted', async () => {
  const { service, calls } = await start({});
  const lost = new QueryFailedError('SELECT', [], new Error('Connection terminated'));
  onNextCall(service.app.get(QueueService), 'output', () => () => Promise.reject(lost));
  const answer = await service.submit('test/narrow', {}, prefer);
  expect(answer.status).toBe(202);
  const { request_id: id } = (await answer.json()) as Status;
  expect((await calls.response(id)).status).toBe(200);
});

test('the completion of a run on another node ends a long poll too', async () => {
  const api = await start({ role: 'api' });
  await nodes.start({ role: 'scheduler' });
  const answer = api.service.submit('test/narrow', { hold: true }, prefer);
  await until(() => api.polls.size === 1);
  const { id } = await until(() =>
    model.calls.find(({ body, closed }) => body === '{"hold":true}' && !closed),
  );
  await model.answer(id, '["elsewhere"]');
  expect([(await answer).status, applied(await answer)]).toEqual([200, 'wait=60']);
  expect(await (await answer).json()).toMatchObject({ request_id: id, response: ['elsewhere'] });
});

test('a browser may send the preference and read that it was applied', async () => {
  const origin = 'https://app.example';
  const { service, calls } = await start({ corsOrigins: [origin] });
  const id = await calls.run('test/narrow');
  const path = `${calls.path(id)}/status`;
  const preflight = await fetch(service.url + path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'prefer' },
  });
  expect(preflight.headers.get('access-control-allow-headers')).toMatch(/\bPrefer\b/);
  const status = await service.get(path, { headers: { origin, ...prefer, ...keyHeader(service.key) } });
  expect(status.headers.get('access-control-expose-headers')).toMatch(/\bPreference-Applied\b/);
  expect(applied(status)).toBe('wait=60');
});
