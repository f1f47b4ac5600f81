import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePort } from '../../chaos/cluster/free-port.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { type SpawnedService, spawnService, until } from '../support/index.js';
import { proxyNames, ProxyProgram } from '../support/proxy-program.js';

const key = 'test_rolling_key_0123456789';
const everyMs = 100;

let database: TestDatabase;
let ports: [number, number];
let nodes: SpawnedService[];

beforeAll(async () => {
  database = await createTestDatabase();
  ports = [await freePort(), await freePort()];
  nodes = [await startNode(0), await startNode(1)];
});
afterAll(async () => {
  for (const node of nodes) await node.exited;
  await database.drop();
});

/** With the settings as they are shipped, as far as they concern a stop and a proxy. */
const startNode = (index: 0 | 1): Promise<SpawnedService> =>
  spawnService({
    DATABASE_URL: database.url,
    BOOTSTRAP_API_KEY: key,
    PORT: String(ports[index]),
    TRUST_PROXY: '1',
    SHUTDOWN_DELAY: '5s',
    RATE_LIMIT_SUBMIT: 'off',
    RATE_LIMIT_OTHER: 'off',
    LOG_LEVEL: 'error',
  });

const isReady = async ({ url }: SpawnedService): Promise<boolean> =>
  (await fetch(`${url}/health/ready`)).status === 200;

/** Stops a node as a deploy does, and starts it again at its port. */
async function restart(index: 0 | 1): Promise<void> {
  await nodes[index]!.stop('SIGTERM');
  nodes[index] = await startNode(index);
  await until(() => isReady(nodes[index]!), { message: 'the node is ready again' });
}

/** Submits ten times a second, as a client with connections that it keeps. */
class Caller {
  readonly accepted: string[] = [];
  readonly failures: string[] = [];
  private readonly agent = new Agent({ keepAlive: true });
  private readonly timer = setInterval(() => this.open.add(this.submit()), everyMs);
  private readonly open = new Set<Promise<void>>();

  constructor(private readonly url: string) {}

  get calls(): number {
    return this.accepted.length + this.failures.length;
  }

  async end(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.open);
    this.agent.destroy();
  }

  private async submit(): Promise<void> {
    try {
      const call = request(`${this.url}/v1/queue/demo/text/echo`, {
        agent: this.agent,
        method: 'POST',
        headers: { authorization: `Key ${key}` },
      });
      const answer = new Promise<[number, string]>((resolve, reject) => {
        call.once('error', reject);
        call.once('response', (response) => {
          text(response).then((body) => resolve([response.statusCode!, body]), reject);
        });
      });
      call.end('{"text":"hello"}');
      const [status, body] = await answer;
      if (status === 202) this.accepted.push((JSON.parse(body) as { request_id: string }).request_id);
      else this.failures.push(`${status} ${body}`);
    } catch (error) {
      this.failures.push(String(error));
    }
  }
}

test.each(proxyNames)(
  'two nodes behind %s with its sample configuration restart one by one without a failed call',
  async (name) => {
    const proxy = await ProxyProgram.start(name, ports);
    const caller = new Caller(proxy.url);
    await until(() => caller.calls >= 10);
    for (const index of [0, 1] as const) await restart(index);
    const so = caller.calls;
    await until(() => caller.calls >= so + 10);
    await caller.end();
    expect({ failures: caller.failures, log: caller.failures.length > 0 ? proxy.log : '' }).toEqual({
      failures: [],
      log: '',
    });
    const isCompleted = async (id: string): Promise<boolean> =>
      (await (await fetch(`${proxy.url}/v1/queue/requests/${id}/status`)).text()).includes('COMPLETED');
    for (const id of caller.accepted) await until(() => isCompleted(id), { message: `${id} has completed` });
    await proxy.stop();
  },
);
