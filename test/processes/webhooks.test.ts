import { createServer } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import {
  createTestDatabase,
  SpawnedService,
  spawnService,
  startTestService,
  submitTo,
  type TestDatabase,
  until,
} from '../support/index.js';
import { ModelServer } from '../support/model-server.js';
import { webhookAllow } from '../support/test-webhooks.js';
import { WebhookReceiver } from '../support/webhook-receiver.js';

let database: TestDatabase;
const receiver = new WebhookReceiver();
const model = new ModelServer();
let directory: string;

beforeAll(async () => {
  database = await createTestDatabase();
  await receiver.start();
  await model.start();
  directory = await mkdtemp(join(tmpdir(), 'nowserving-webhooks-'));
  await writeFile(join(directory, 'models.yaml'), model.file({ 'test/hook': {} }));
});
afterAll(async () => {
  await receiver.stop();
  await model.stop();
  await database.drop();
  await rm(directory, { recursive: true, force: true });
});

/** Runs `npm run <script> -- …` as a process of its own. */
async function run(script: string, ...args: string[]): Promise<[code: number | null, output: string]> {
  const environment = { DATABASE_URL: database.url, WEBHOOK_ALLOW: '127.0.0.1' };
  const command = new SpawnedService(environment, { script: `dist/src/${script}.js`, args });
  const { code } = await command.exited;
  return [code, command.output];
}

test('the keys command shows and rotates the secret of a key, and manages its endpoints', async () => {
  await run('keys', 'create', '--name', 'shop');
  const [, first] = await run('keys', 'webhook-secret', 'show', 'shop');
  expect(first).toMatch(/^whsec_[\w+/]{43}=\n$/);
  const [, second] = await run('keys', 'webhook-secret', 'rotate', 'shop');
  expect(await run('keys', 'webhook-secret', 'show', 'shop')).toEqual([0, second + first]);

  expect(await run('keys', 'webhook-endpoint', 'list')).toEqual([0, 'There are no endpoints.\n']);
  expect(await run('keys', 'webhook-endpoint', 'add', 'shop', 'http://10.0.0.1/')).toEqual([
    1,
    'The endpoint cannot be used: its URL must begin with https://, unless the setting WEBHOOK_ALLOW names its host.\n',
  ]);
  const url = 'https://hooks.example/a';
  expect((await run('keys', 'webhook-endpoint', 'add', 'shop', url))[0]).toBe(0);
  expect(await run('keys', 'webhook-endpoint', 'list', 'shop')).toEqual([
    0,
    `shop  ${url}  (only request.completed)\n`,
  ]);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(`UPDATE webhook_endpoint SET events = '{later.event}'`);
  expect(await run('keys', 'webhook-endpoint', 'list')).toEqual([0, `shop  ${url}  (only later.event)\n`]);
  const limited = ['webhook-endpoint', 'add', 'shop', url, '--events'];
  expect((await run('keys', ...limited, 'no.event'))[0]).toBe(2);
  expect((await run('keys', ...limited, 'request.completed'))[0]).toBe(0);
  expect((await run('keys', 'webhook-endpoint', 'remove', 'shop', url))[0]).toBe(0);
  expect((await run('keys', 'webhook-endpoint', 'remove', 'shop', url))[0]).toBe(1);
  expect((await run('keys', 'webhook-secret', 'show'))[0]).toBe(2);
  const { rows } = await client.query(
    `SELECT action, before, after FROM audit_entry WHERE actor_name = 'command line' ORDER BY id`,
  );
  await client.end();
  expect(rows).toMatchObject([
    { action: 'key.create' },
    { action: 'secret.read' },
    { action: 'secret.rotate' },
    { action: 'secret.read' },
    { action: 'endpoint.create', after: { url, events: ['request.completed'] } },
    {
      action: 'endpoint.update',
      before: { events: ['later.event'] },
      after: { events: ['request.completed'] },
    },
    { action: 'endpoint.remove', before: { url } },
  ]);
  expect(JSON.stringify(rows)).not.toContain('whsec_');
});

test('the listener prints each webhook and whether it is genuine', async () => {
  const port = await freePort();
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  const args = ['listen', '--port', String(port), '--secret', secret];
  const listener = new SpawnedService({}, { script: 'dist/src/webhooks.js', args });
  await until(() => listener.output.includes(`WEBHOOK_ALLOW=127.0.0.1:${port}`));
  const body = '{"type":"request.completed","request_id":"r1"}';
  const send = (text: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${port}/hook`, {
      method: 'POST',
      headers: {
        'webhook-id': 'd1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('d1', new Date(), body),
      },
      body: text,
    });
  expect((await send(body)).status).toBe(204);
  expect((await send('forged')).status).toBe(401);
  await until(() => listener.output.includes('NOT GENUINE'));
  expect(listener.output).toMatch(/POST \/hook {2}d1 {2}genuine\n\{\n {2}"type": "request.completed"/);
  listener.kill('SIGKILL');
  await listener.exited;
});

test('another node delivers a webhook whose node was killed during the call', async () => {
  const environment = {
    DATABASE_URL: database.url,
    MODELS_FILE: join(directory, 'models.yaml'),
    BOOTSTRAP_API_KEY: 'test_key_of_webhooks',
    WEBHOOK_ALLOW: '127.0.0.1',
    LOG_LEVEL: 'error',
  };
  receiver.answer = () => undefined;
  const first = await spawnService(environment);
  const path = `test/hook?webhook=${encodeURIComponent(receiver.url('/killed'))}`;
  const { request_id } = await submitTo(first.url, environment.BOOTSTRAP_API_KEY, path, {});
  await receiver.arrived('/killed');
  first.kill('SIGKILL');
  await first.exited;
  receiver.answer = ({ response }) => void response.writeHead(204).end();
  const second = await startTestService({ config: { databaseUrl: database.url, webhookAllow } });
  const delivered = (): Promise<object[]> =>
    second.query(`SELECT FROM webhook_delivery WHERE state = 'delivered' AND request_id = $1`, [request_id]);
  await until(async () => (await delivered()).length === 1);
  const [before, after] = receiver.at('/killed');
  expect(after!.headers['webhook-id']).toBe(before!.headers['webhook-id']);
  await second.stop();
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
