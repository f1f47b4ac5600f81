import { ControlCluster, type ControlledNode } from '../support/control-cluster.js';
import { until } from '../support/index.js';

const cluster = new ControlCluster();
const models = { 'test/one': { concurrency: 1 }, 'test/long': { concurrency: 2 } };

beforeAll(async () => {
  await cluster.start(models, 0);
  await cluster.add({ SHUTDOWN_GRACE: '1h' });
  await cluster.add({ SHUTDOWN_GRACE: '1h' });
});
afterAll(() => cluster.stop());

const slots = (model: string): Promise<{ name: string; slots: number }[]> =>
  cluster.rows(
    `SELECT name, slots FROM slot_grant JOIN node ON id = node_id
     WHERE model_id = $1 AND slots > 0 ORDER BY name`,
    [model],
  );

async function stateOf(name: string, seenBy: ControlledNode): Promise<string | undefined> {
  const answer = (await (await seenBy.admin.call('GET', 'nodes')).json()) as {
    data: { name: string; state: string }[];
  };
  return answer.data.find((node) => node.name === name)?.state;
}

test('a stopping node leaves its idle slots to the other nodes while its runs continue', async () => {
  // Each of the nodes is granted one of two slots, and one of them has the only slot of the other model.
  const both = [
    { name: 'node-0', slots: 1 },
    { name: 'node-1', slots: 1 },
  ];
  await until(async () => (await slots('test/long')).length === 2 && (await slots('test/one')).length === 1);
  expect(await slots('test/long')).toEqual(both);
  const { name } = (await slots('test/one'))[0]!;
  const [leaving, staying] = name === 'node-0' ? cluster.nodes : cluster.nodes.toReversed();

  cluster.model.hold();
  // One request runs at each of them.
  const held = [await leaving!.submit('test/long'), await leaving!.submit('test/long')] as string[];
  for (const id of held) await cluster.model.arrived(id);

  let hasExited = false;
  void leaving!.service.exited.then(() => (hasExited = true));
  leaving!.service.kill('SIGTERM');
  await until(async () => (await stateOf(name, staying!)) === 'stopping', { message: 'it is seen to stop' });
  const next = (await staying!.submit('test/one')) as string;
  await cluster.model.arrived(next);
  expect(await slots('test/one')).toEqual([{ name: name === 'node-0' ? 'node-1' : 'node-0', slots: 1 }]);
  expect(await slots('test/long')).toEqual(both);
  expect(hasExited).toBe(false);

  for (const id of held) await cluster.model.answer(id);
  expect(await leaving!.service.exited).toEqual({ code: 0, signal: null });
  cluster.remove(leaving!);
  await until(async () => (await slots('test/long'))[0]?.slots === 2);
});
