import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { packClient, UserProject } from './client-package.js';
import { temporaryDirectory } from './data-directory.js';
import { until } from './index.js';
import { root } from './page-examples.js';
import type { PageSession, Scene } from './page-session.js';
import { keyHeader, QueueCalls } from './queue-calls.js';
import type { TestService } from './test-service.js';
import type { WebhookReceiver } from './webhook-receiver.js';

/** What all pages share. */
export interface Stage {
  service: TestService;
  receiver: WebhookReceiver;
}

export interface PageScene extends Partial<Scene> {
  /** Checks after the block with this first line. */
  after?: Record<string, (session: PageSession) => Promise<void>>;
}

/** Models of the pages that are not in the shipped models.yaml. */
const workerModels = ['me/image/upscale', 'me/text/story']
  .map((id) => `\n  - id: ${id}\n    runner: { kind: worker }\n`)
  .join('');

export const modelsOfPages = async (): Promise<string> =>
  `${await readFile(join(root, 'models.yaml'), 'utf8')}${workerModels}`;

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/**
 * A folder that looks like a clone of the repository, in which pages may write. With a `databaseUrl` the embedded
 * PostgreSQL seems to run there.
 */
export async function cloneOf(databaseUrl: string | undefined): Promise<string> {
  const folder = await temporaryDirectory();
  const own = ['.data', '.git', 'models.yaml'];
  for (const name of readdirSync(root).filter((entry) => !own.includes(entry)))
    symlinkSync(join(root, name), join(folder, name));
  await copyFile(join(root, 'models.yaml'), join(folder, 'models.yaml'));
  if (databaseUrl === undefined) return folder;
  mkdirSync(join(folder, '.data'));
  writeFileSync(join(folder, '.data', 'database-url'), databaseUrl);
  return folder;
}

/** What pages need besides a service with models and a key. */
export const scenes: Record<string, (stage: Stage) => Promise<PageScene>> = {
  'README.md': async () => {
    const port = await freePort();
    return {
      // The embedded PostgreSQL, whose first start prints the key.
      cwd: await cloneOf(undefined),
      environment: { PORT: '0' },
      // .ci/run runs npm ci in a fresh clone before the tests.
      replacements: { 'npm ci && ': '', '(9000': `(${port}`, ':9000': `:${port}` },
      after: {
        "curl -s http://127.0.0.1:3000/v1/queue/requests/$ID | sed 's/.*base64,\\([^\"]*\\).*/\\1/' | base64 -d > /tmp/fractal.png":
          async ({ folder }) => {
            const picture = await readFile(join(folder, 'fractal.png'));
            expect(picture.subarray(1, 4).toString()).toBe('PNG');
          },
        "cat >> models.yaml <<'END'": async (session) => {
          const models = async (): Promise<string> =>
            (await fetch(new URL('/openapi.json', session.url))).text();
          await until(async () => (await models()).includes('me/text/reverse'), {
            message: 'the service has read the file again',
          });
        },
      },
    };
  },

  'docs/admin.md': async (stage) => {
    const { id } = await delivered(stage);
    const list = await stage.service.get('/v1/admin/deliveries', { headers: keyHeader(stage.service.key) });
    const { data: deliveries } = (await list.json()) as { data: { id: string }[] };
    const [endpoint] = await stage.service.query<{ id: string }>(
      `INSERT INTO webhook_endpoint (id, api_key_id, url)
       SELECT gen_random_uuid(), api_key_id, 'https://example.org/hook' FROM request WHERE id = $1 RETURNING id`,
      [id],
    );
    return {
      values: { DELIVERY: deliveries[0]!.id, ENDPOINT: endpoint!.id },
      after: {
        'curl -N -H "Authorization: Key $KEY" $URL/v1/admin/events': async ({ started: [events] }) => {
          await until(() => events!.output().includes('event: overview'), { explain: events!.output });
        },
      },
    };
  },

  'docs/backups.md': async ({ service }) => {
    await new QueueCalls(service).newKey({ name: 'back office' });
    return {};
  },

  'docs/nodes.md': () => Promise.resolve({ replacements: { 'PORT=3001': 'PORT=0' } }),

  'docs/operations.md': async ({ service }) => {
    const header = { headers: keyHeader(service.key) };
    const id = await new QueueCalls(service).run('demo/text/flaky', { fail_attempts: 1, status: 422 });
    const filter = JSON.stringify({ action: 'erase', filter: { tag: 'job:17' } });
    const started = await fetch(new URL('/v1/admin/operations', service.url), {
      method: 'POST',
      ...header,
      body: filter,
    });
    const operation = (await started.json()) as { id: string };
    const nodes = (await (await service.get('/v1/admin/nodes', header)).json()) as { data: { id: string }[] };
    return {
      values: { ID: id, NODE: nodes.data[0]!.id, OPERATION: operation.id },
      after: {
        'curl -H "$AUTH" $URL/v1/admin/nodes                              # ids, slots, runs': async () => {
          const drain = new URL(`/v1/admin/nodes/${nodes.data[0]!.id}/drain`, service.url);
          expect((await fetch(drain, { method: 'DELETE', ...header })).status).toBe(200);
        },
      },
    };
  },

  'docs/webhooks.md': async (stage) => {
    const { service, receiver } = stage;
    const port = await freePort();
    const answer = await service.get('/v1/key', { headers: keyHeader(service.key) });
    const { webhook_secret: secret } = (await answer.json()) as { webhook_secret: string };
    const { id, delivery } = await delivered(stage);
    await new QueueCalls(service).newKey({ name: 'web shop' });
    return {
      values: { ID: id, DELIVERY: delivery },
      replacements: {
        'https://example.org': receiver.url(''),
        'whsec_…': secret,
        '--port 9100': `--port ${port}`,
        ':9100': `:${port}`,
      },
      after: {
        [`curl "$URL/v1/queue/demo/text/echo?webhook=http://127.0.0.1:9100/" -H "Authorization: Key $KEY" -d '{}'`]:
          async ({ started: [listener] }) => {
            await until(() => /  genuine$/m.test(listener!.output()), {
              message: 'the webhook is printed',
              explain: listener!.output,
            });
          },
      },
    };
  },

  'docs/servers/cog-workers.md': async ({ service }) => ({
    after: {
      'python3 -m nowserving.cog predict.py:Predictor --model me/text/story': async () => {
        const calls = new QueueCalls(service);
        const answer = await calls.response(
          await calls.submit('me/text/story', { prompt: 'once', times: 1 }),
        );
        expect(await answer.json()).toBe('once! ');
      },
    },
  }),

  'docs/servers/runpod.md': async ({ service }) => ({
    after: {
      'python3 -m nowserving.runpod handler.py --model me/text/story': async () => {
        const calls = new QueueCalls(service);
        const answer = await calls.response(await calls.submit('me/text/story', { prompt: 'once upon' }));
        expect(await answer.json()).toEqual(['once ', 'upon ']);
      },
    },
  }),

  'docs/worker-libraries.md': async ({ service }) => ({
    cwd: (await UserProject.with(await packClient(), {})).directory,
    after: {
      'node story.mjs': async () => {
        const calls = new QueueCalls(service);
        const answer = await calls.response(await calls.submit('me/text/story', { prompt: 'once upon' }));
        expect(await answer.json()).toBe('once upon ');
      },
      'npx nowserving work --model me/text/story --stdout text -- python3 /home/me/story.py --fast':
        async () => {
          const model = async (): Promise<{ workers: number }> => {
            const answer = await service.get('/v1/models/me/text/story', { headers: keyHeader(service.key) });
            return (await answer.json()) as { workers: number };
          };
          await until(async () => (await model()).workers === 2, { explain: model });
        },
    },
  }),

  'docs/workers.md': async ({ service }) => {
    await new QueueCalls(service).submit('me/image/upscale', { image: 'https://example.org/cat.png' });
    return {};
  },
};

/** Submits a request with a webhook, and returns its id and that of the delivery. */
async function delivered({ service, receiver }: Stage): Promise<{ id: string; delivery: string }> {
  const id = await new QueueCalls(service).submit(
    `demo/text/echo?webhook=${encodeURIComponent(receiver.url('/before'))}`,
  );
  const list = async (): Promise<{ data: { id: string; state: string }[] }> => {
    const answer = await service.get(`/v1/queue/requests/${id}/deliveries`, {
      headers: keyHeader(service.key),
    });
    return (await answer.json()) as { data: { id: string; state: string }[] };
  };
  const delivery = await until(async () => (await list()).data.find(({ state }) => state === 'delivered'), {
    explain: list,
  });
  return { id, delivery: delivery.id };
}
