import type { Call } from '../support/model-server.js';
import type { SpawnedService } from '../support/spawn-service.js';
import { until } from '../support/index.js';
import { ProcessCluster } from '../support/process-cluster.js';
import { QueueCalls } from '../support/queue-calls.js';
import { Cog } from '../support/servers/cog.js';

/** A server whose runs go on without a connection. It does not answer a start while `isSilent`. */
class JobServer {
  readonly starts: string[] = [];
  readonly cancelled: string[] = [];
  polls = 0;
  isSilent = false;
  isDone = false;

  readonly respond = ({ method, url, response }: Call): void => {
    const answer = (status: number, value: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const id = url.split('/').at(-1)!;
    if (method === 'PUT') this.starts.push(id);
    else if (method === 'DELETE') this.cancelled.push(id);
    else if (!this.starts.includes(id)) return answer(404, {});
    else this.polls++;
    if (method === 'PUT' && this.isSilent) return;
    answer(200, {
      state: this.isDone ? 'done' : 'running',
      share: Math.min(0.99, this.polls / 1_000),
      output: this.starts,
    });
  };
}

/** How often the node is killed that follows a run. `KILLS=50` makes a long test of it. */
const kills = Number(process.env['KILLS'] ?? 4);

const server = new JobServer();
const cluster = new ProcessCluster();
const place = '{url}/{run_id}';

beforeAll(async () => {
  const runner = {
    path: '/jobs',
    request: { method: 'PUT', url: place },
    follow: {
      url: place,
      every: '50ms',
      done: { path: '$.state', in: ['done'] },
      progress: '$.share',
      output: '$.output',
      cancel: { method: 'DELETE', url: place },
    },
  };
  await cluster.start(1, { runner });
  cluster.model.respond = server.respond;
});
afterAll(() => cluster.stop());

/** Kills a node and returns the one that takes its run up. */
async function killed(node: SpawnedService): Promise<SpawnedService> {
  const next = await cluster.scheduler({ SHUTDOWN_GRACE: '1s' });
  node.kill('SIGKILL');
  const before = server.polls;
  await until(() => server.polls > before + 3);
  return next;
}

test(
  'the next node follows a run each time its node is killed, and the run is started once',
  async () => {
    server.isSilent = true;
    let node = await cluster.scheduler();
    const id = await cluster.submit();
    await until(() => server.starts.length === 1);
    // The first answer is lost with the node.
    node = await killed(node);
    const progress: number[] = [];
    for (let made = 1; made < kills; made++) {
      node = await killed(node);
      const shown = await until(async () => {
        const [row] = await cluster.api.query<{ value: number | null }>(
          'SELECT progress_value AS value FROM lease WHERE request_id = $1',
          [id],
        );
        return row?.value ?? undefined;
      });
      progress.push(shown);
    }
    expect(progress).toEqual([...progress].sort((a, b) => a - b));
    // A node that stops hands the run on.
    const last = await cluster.scheduler();
    await node.stop();
    const before = server.polls;
    await until(() => server.polls > before + 3);
    server.isDone = true;
    await cluster.completed(id);
    expect(server.starts).toHaveLength(1);
    expect(await cluster.story(id)).toMatchObject({
      outcome: 'succeeded',
      code: null,
      lost: 0,
      output: server.starts,
      attempts: [...Array<string>(kills + 1).fill('returned'), 'succeeded'],
    });
    expect((await new QueueCalls(cluster.api).status(id)).attempt).toBe(1);
    await last.stop();
  },
  60_000 + kills * 30_000,
);

test('a run whose cancel was requested while its node was lost is cancelled at its server', async () => {
  server.isDone = server.isSilent = false;
  server.starts.length = 0;
  const node = await cluster.scheduler();
  const id = await cluster.submit();
  await until(() => server.polls > 0 && server.starts.length === 1);
  const next = await cluster.scheduler();
  node.kill('SIGKILL');
  await new QueueCalls(cluster.api).cancel(id);
  await cluster.completed(id);
  await until(() => server.cancelled.includes(server.starts[0]!));
  expect(await cluster.story(id)).toMatchObject({ outcome: 'cancelled' });
  await until(async () => (await cluster.api.query('SELECT FROM followed_run')).length === 0);
  await next.stop();
});

describe('a server with runs to which nodes attach by their id', () => {
  const cog = new Cog();
  const attached = new ProcessCluster();

  beforeAll(async () => {
    cog.isStreaming = true;
    await attached.start(1, { runner: { path: '/predictions', preset: 'cog' } });
    attached.model.respond = cog.respond;
  });
  afterAll(() => attached.stop());

  test('continues a run whose node is killed, and the next node reads it from the beginning', async () => {
    const node = await attached.scheduler();
    const id = await new QueueCalls(attached.api).submit('test/counted', { prompt: 'hold' });
    await until(() => cog.readers === 1);
    const next = await attached.scheduler();
    node.kill('SIGKILL');
    await until(() => cog.readers === 0);
    await until(() => cog.readers === 1);
    cog.release();
    await attached.completed(id);
    expect(cog.begun).toHaveLength(1);
    expect(await attached.story(id)).toMatchObject({
      outcome: 'succeeded',
      code: null,
      lost: 0,
      output: ['held ', 'it ', 'was ', 'held'],
      attempts: ['returned', 'succeeded'],
    });
    await next.stop();
  });

  test('does not hold its model if it cannot continue the run of a lost node', async () => {
    cog.begun.length = cog.cancelled.length = 0;
    const node = await attached.scheduler();
    const id = await new QueueCalls(attached.api).submit('test/counted', { prompt: 'hold' });
    await until(() => cog.readers === 1);
    cog.historyCapacity = 1;
    const next = await attached.scheduler();
    node.kill('SIGKILL');
    // The server has lost the beginning of the stream.
    await until(() => cog.cancelled.length > 0);
    cog.historyCapacity = 1_024;
    await until(() => cog.begun.length === 2);
    await until(() => cog.readers === 1);
    cog.release();
    await attached.completed(id);
    const [first, second] = cog.begun;
    expect(second).not.toBe(first);
    expect(new Set(cog.cancelled)).toEqual(new Set([first]));
    expect(await attached.story(id)).toMatchObject({
      outcome: 'succeeded',
      lost: 0,
      output: ['held ', 'it ', 'was ', 'held'],
      attempts: ['returned', 'unreached', 'succeeded'],
    });
    await next.stop();
  });
});
