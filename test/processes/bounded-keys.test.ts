import { ProcessCluster } from '../support/process-cluster.js';
import { inParallel } from '../support/in-parallel.js';
import { keyHeader, QueueCalls } from '../support/queue-calls.js';
import { until } from '../support/index.js';

const maxRunning = 2;
let cluster: ProcessCluster;
beforeAll(async () => (cluster = await new ProcessCluster().start(9)));
afterAll(() => cluster.stop());

test('when one of three nodes is killed, a key stays within its bound of running requests, and all end', async () => {
  const { api, model } = cluster;
  const calls = new QueueCalls(api);
  const unlimited = { rateLimitSubmit: 'off', rateLimitOther: 'off' };
  const bounded = keyHeader(await calls.newKey({ ...unlimited, maxRunning }));
  const free = keyHeader(await calls.newKey(unlimited));
  const nodes = await Promise.all([cluster.scheduler(), cluster.scheduler(), cluster.scheduler()]);
  let atOnce = 0;
  let most = 0;
  const { respond } = model;
  model.respond = (call) => {
    if (call.body.includes('bounded')) {
      most = Math.max(most, ++atOnce);
      call.response.on('close', () => atOnce--);
    }
    respond(call);
  };
  const submitAll = (count: number, headers: typeof bounded, input: object): Promise<string[]> =>
    inParallel(10, Array.from({ length: count }), () => calls.submit('test/counted', input, headers));
  const ids = await submitAll(60, bounded, { bounded: true });
  const others = await submitAll(20, free, {});
  await until(() => model.running === 9);
  expect(atOnce).toBe(maxRunning);
  model.takesMs = 40;
  model.release();
  const [victim] = await until(async () => {
    const [busy] = await api.query<{ name: string }>(
      `SELECT node.name FROM lease JOIN node ON node.id = lease.node_id WHERE bounded_key_id IS NOT NULL`,
    );
    return busy && nodes.filter(({ pid }) => busy.name.endsWith(`:${pid}`));
  });
  (victim ?? nodes[0]).kill('SIGKILL');
  await cluster.completed(...ids, ...others);

  expect(most).toBe(maxRunning);
  expect(
    await api.query(`SELECT outcome, count(*)::integer FROM request GROUP BY outcome ORDER BY outcome`),
  ).toEqual([{ outcome: 'succeeded', count: 80 }]);
  for (const node of nodes.filter((one) => one !== (victim ?? nodes[0]))) await node.stop();
});
