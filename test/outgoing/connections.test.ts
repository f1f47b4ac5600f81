import { Config } from '../../src/config/config.js';
import { readBeginning } from '../../src/outgoing/answer-body.js';
import { Outgoing } from '../../src/outgoing/outgoing.js';
import { HttpRunner } from '../../src/runners/http-runner.js';
import { Tracing } from '../../src/tracing/tracing.js';
import { BlockableServer } from '../support/blockable-server.js';
import { type Call, ModelServer } from '../support/model-server.js';
import { noFiles, testRun, type TestRun, threads } from '../support/test-run.js';
import { until } from '../support/until.js';

const runner = new HttpRunner(
  Object.assign(new Config(), { maxOutputBytes: 1_000 }),
  new Tracing(),
  noFiles,
  threads,
);
let server: ModelServer;

/** The connections that the runner keeps for the next run. */
const idle = () => Object.values(runner.outgoing.connections.agent.freeSockets).flatMap((one) => one ?? []);

beforeEach(async () => {
  server = await new ModelServer().start();
  server.respond = answer();
});

afterEach(() => server.stop());

function answer(status = 200, headers: Record<string, string> = {}) {
  return ({ response }: Call): void => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end('{}');
  };
}

/** Makes two runs, the second after the first's connection is back or closed. Returns whether they shared it. */
async function shareConnection(first = answer(), second = answer()): Promise<boolean> {
  server.respond = first;
  await run().catch(() => undefined);
  // The runner handles the connection in the turns after the end of the answer.
  await until(() => server.calls[0]!.response.closed);
  server.respond = second;
  await run();
  return server.calls[0]!.socket === server.calls[1]!.socket;
}

function run(signal?: AbortSignal): Promise<string | Buffer | undefined> {
  const one = testRun({ kind: 'http', url: server.url, headers: {} });
  return runner.run(signal === undefined ? one : Object.assign(one, { signal }));
}

const closed = { message: 'the runner closes the connection' };

test('a connection is reused for the next run if its server promises to keep it alive', async () => {
  server.promise(5);
  expect(await shareConnection()).toBe(true);
});

test('each run has its own connection without a promise of the server', async () => {
  expect(await shareConnection()).toBe(false);
  await until(() => server.calls.every((call) => call.closed), closed);
});

test.each(['timeout=1', 'timeout=soon', 'max=100', 'timeout=5, max=0'])(
  'a connection is not reused after the promise "%s"',
  async (promise) => {
    expect(await shareConnection(answer(200, { connection: 'keep-alive', 'keep-alive': promise }))).toBe(
      false,
    );
    await until(() => server.calls[0]!.closed, closed);
  },
);

test('a server that failed is called on a new connection, which may lead to another server', async () => {
  server.promise(5);
  expect(await shareConnection(answer(503))).toBe(false);
  await until(() => server.calls[0]!.closed, closed);
});

test('a connection is closed if its answer was not read to its end', async () => {
  server.promise(5);
  const endless = ({ response }: Call): void => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    response.write('{"type":"output","output":1}\n{"type":"log"');
  };
  server.respond = endless;
  expect(await run()).toBe('1');
  await until(() => server.calls[0]!.closed, closed);
});

test('an idle connection is closed by the runner, well before its server would close it', async () => {
  server.respond = answer(200, { connection: 'keep-alive', 'keep-alive': 'timeout=2' });
  server.promise(3_600);
  await run();
  await until(() => server.calls[0]!.closed, closed);
});

test('a run may outlast the idle timeout of its reused connection, and closes the connection when stopped', async () => {
  server.promise(3_600);
  server.respond = answer(200, { connection: 'keep-alive', 'keep-alive': 'timeout=2' });
  await Promise.all([run(), run()]);
  await until(() => server.calls.every(({ response }) => response.closed));
  server.respond = () => undefined;
  const stop = new AbortController();
  const running = run(stop.signal);
  await until(() => server.calls.length === 3);
  const [used, idle] = server.calls.slice(0, 2).sort((a) => (a.socket === server.calls[2]!.socket ? -1 : 1));
  await until(() => idle!.closed, closed);
  expect([used!.socket === server.calls[2]!.socket, used!.closed]).toEqual([true, false]);
  stop.abort('cancelled');
  await expect(running).rejects.toThrow('the run was stopped: cancelled');
  await until(() => used!.closed, closed);
});

test('a connection that its server closed while it was idle is not reused', async () => {
  server.promise(5);
  await run();
  server.calls[0]!.socket.end();
  await until(() => server.calls[0]!.closed);
  expect(await run()).toBe('{}');
  expect(server.calls[1]!.socket === server.calls[0]!.socket).toBe(false);
});

test('a destroyed connection is not reused, even before the agent has noticed its end', async () => {
  server.promise(5);
  await Promise.all([run(), run()]);
  await until(() => idle().length === 2);
  idle().at(-1)!.destroy();
  expect(await run()).toBe('{}');
});

test('a connection that expired while the process was suspended is not reused', async () => {
  server.promise(5);
  await run();
  await until(() => idle().length === 1);
  const { now } = performance;
  performance.now = () => now.call(performance) + 4_001;
  try {
    expect(await run()).toBe('{}');
  } finally {
    performance.now = now;
  }
  expect(server.calls[1]!.socket === server.calls[0]!.socket).toBe(false);
});

test('a connection that its server closed while this process was busy is not reused', async () => {
  const busy = await new BlockableServer().start();
  const one = (): TestRun => testRun({ kind: 'http', url: `http://127.0.0.1:${busy.port}/`, headers: {} });
  await runner.run(one());
  await until(() => idle().length === 1);
  busy.closeConnections();
  expect(await runner.run(one())).toBe('{}');
  await busy.stop();
});

describe('a reused connection that ends during a run', () => {
  beforeEach(async () => {
    server.promise(5);
    await run();
    await until(() => idle().length === 1);
  });

  test('before the server could read the whole input: the run is sent again', async () => {
    const { socket } = server.calls[0]!;
    socket.once('data', () => socket.destroy());
    const input = JSON.stringify('x'.repeat(32 * 1024 * 1024));
    expect(await runner.run(testRun({ kind: 'http', url: server.url, headers: {} }, input))).toBe('{}');
    expect(server.calls.map(({ body }) => body.length)).toEqual([server.calls[0]!.body.length, input.length]);
  });

  test('after the server could have read it: the run fails, because it may have been executed', async () => {
    server.respond = ({ socket }) => socket.destroy();
    await expect(run()).rejects.toMatchObject({
      message: 'The connection to the model broke (ECONNRESET).',
      options: { code: 'model_unavailable', outage: 'costly' },
    });
    expect(server.calls).toHaveLength(2);
  });
});

describe('calls that may be repeated', () => {
  const outgoing = new Outgoing({ mayRepeat: true });
  afterEach(() => outgoing.connections.close());

  async function post(): Promise<number> {
    const call = { method: 'POST', url: server.url, headers: {}, body: '{}' };
    const { status, body } = await outgoing.call(call);
    await readBeginning(body, 10);
    await until(() => Object.keys(outgoing.connections.agent.sockets).length === 0);
    return status;
  }

  test('are sent again when a reused connection ends before their answer', async () => {
    await post();
    const first = server.calls[0]!.socket;
    server.respond = (call) => (call.socket === first ? first.destroy() : answer()(call));
    expect(await post()).toBe(200);
    expect(server.calls).toHaveLength(3);
  });

  test('are not sent again when a new connection ends', async () => {
    server.respond = ({ socket }) => socket.destroy();
    await expect(post()).rejects.toMatchObject({ code: 'ECONNRESET', wasConnected: true });
    expect(server.calls).toHaveLength(1);
  });

  test('get a new connection after a minute, to look up a changed name', async () => {
    const { now } = performance;
    let passedMs = 0;
    performance.now = () => now.call(performance) + passedMs;
    try {
      await post();
      server.respond = (call) => {
        passedMs = 60_001;
        answer()(call);
      };
      await post();
      await post();
    } finally {
      performance.now = now;
    }
    const [first, second, third] = server.calls.map(({ socket }) => socket);
    expect([second === first, third === first]).toEqual([true, false]);
  });
});
