import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import {
  createTestDatabase,
  type SpawnedService,
  spawnService,
  type TestDatabase,
  until,
} from '../support/index.js';
import { scrape } from '../support/metrics.js';
import { keyHeader } from '../support/queue-calls.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';
import { WorkerCalls } from '../support/worker-calls.js';

const minute = 60_000;
const key = 'clocks_key_0123456789abcdef';
const models = `models:
  - { id: test/echo, runner: { kind: demo, demo: echo } }
  - { id: test/pulled, timeout: 10m, runner: { kind: worker } }
`;
const receiver = new WebhookReceiver();
let database: TestDatabase;
let directory: string;

beforeAll(async () => {
  await receiver.start();
  database = await createTestDatabase();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-clocks-'));
  await writeFile(join(directory, 'models.yaml'), models);
});
afterAll(async () => {
  await receiver.stop();
  await rm(directory, { recursive: true, force: true });
  await database.drop();
});

describe.each([
  ['ahead of', 15 * minute],
  ['behind', -15 * minute],
])('a node whose clock is 15 minutes %s the database’s', (words, aheadMs) => {
  let service: SpawnedService;
  beforeAll(async () => {
    service = await spawnService({
      NODE_OPTIONS: `--import=${new URL('../support/shifted-clock.js', import.meta.url).href}`,
      CLOCK_AHEAD_MS: String(aheadMs),
      DATABASE_URL: database.url,
      MODELS_FILE: join(directory, 'models.yaml'),
      BOOTSTRAP_API_KEY: key,
      WEBHOOK_ALLOW: '127.0.0.1',
      LOG_FORMAT: 'json',
    });
  });
  afterAll(() => service.stop());

  const call = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(`${service.url}${path}`, {
      method,
      headers: keyHeader(key),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const json = async <T>(answer: Promise<Response>): Promise<T> => (await (await answer).json()) as T;

  /** Returns whether a time is the real one, as far as a test can tell. */
  const isNow = (at: string): boolean => Math.abs(Date.parse(at) - Date.now()) < minute;

  test('signs webhooks that receivers accept', async () => {
    const { webhook_secret: secret } = await json<{ webhook_secret: string }>(call('GET', '/v1/key'));
    const path = `/${aheadMs}`;
    const url = `/v1/queue/test/echo?webhook=${encodeURIComponent(receiver.url(path))}`;
    expect((await call('POST', url, { text: 'hello' })).status).toBe(202);
    const [hook] = await receiver.arrived(path);
    const { timestamp } = new Webhook(secret).verify(hook!.body, hook!.headers as never) as {
      timestamp: string;
    };
    expect(isNow(timestamp)).toBe(true);
  });

  test('sends workers the correct remaining time and deadline', async () => {
    expect((await call('POST', '/v1/queue/test/pulled', {})).status).toBe(202);
    const run = await new WorkerCalls({ url: service.url, key }).run();
    expect(run.remaining_ms).toBeGreaterThan(9 * minute);
    expect(run.remaining_ms).toBeLessThanOrEqual(10 * minute);
    expect(isNow(new Date(Date.parse(run.deadline_at) - 10 * minute).toISOString())).toBe(true);
  });

  test('applies expiries of keys and lists audit entries by the correct time', async () => {
    const expires = new Date(Date.now() + 5 * minute).toISOString();
    const made = await json<{ id: string; state: string }>(
      call('POST', '/v1/admin/keys', { name: `until ${expires}`, expires }),
    );
    expect(made.state).toBe('valid');
    const [from, to] = [-minute, minute].map((ms) => new Date(Date.now() + ms).toISOString());
    const { data } = await json<{ data: { target: string; at: string }[] }>(
      call('GET', `/v1/admin/audit?action=key.create&after=${from}&before=${to}`),
    );
    expect(data.filter(({ target, at }) => target === made.id && isNow(at))).toHaveLength(1);
    const past = new Date(Date.now() - 5 * minute).toISOString();
    const refusal = call('POST', '/v1/admin/keys', { name: 'over', expires: past });
    expect((await refusal).status).toBe(400);
  });

  test('records pauses and timestamps errors with the correct time', async () => {
    const { paused } = await json<{ paused: { overridden_at: string } }>(
      call('PATCH', '/v1/admin/models/test/echo', { paused: 'hold' }),
    );
    expect(isNow(paused.overridden_at)).toBe(true);
    expect((await call('PATCH', '/v1/admin/models/test/echo', { paused: false })).status).toBe(200);
    const problem = await json<{ timestamp: string }>(call('GET', '/v1/queue/requests/none'));
    expect(isNow(problem.timestamp)).toBe(true);
  });

  test('warns once, and shows its skew as a metric', async () => {
    await until(() => service.output.includes("the database's: set it"));
    expect(service.output.split("the database's: set it")).toHaveLength(2);
    expect(service.output).toContain(`the clock of this machine is 900 s ${words} the database's`);
    const figures = await scrape({ url: service.url, key });
    expect(figures.value('nowserving_clock_skew_seconds')).toBeCloseTo(aheadMs / 1_000, -1);
    const succeeded = await until(async () =>
      (await scrape({ url: service.url, key })).value('nowserving_duty_last_success_timestamp_seconds', {
        duty: 'Heartbeat',
      }),
    );
    expect(isNow(new Date(succeeded * 1_000).toISOString())).toBe(true);
  });
});
