import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { temporaryDirectory } from '../support/data-directory.js';
import { startTestService, type TestService } from '../support/index.js';
import { ProxyProgram } from '../support/proxy-program.js';

const cells = ['one', 'two'];

let services: TestService[];
let proxy: ProxyProgram;

beforeAll(async () => {
  services = [];
  for (const cell of cells) {
    const config = {
      bootstrapApiKey: `ns_${randomBytes(32).toString('base64url')}`,
      publicBaseUrl: `http://${cell}.queue.example.org`,
      trustProxy: 1,
    };
    services.push(await startTestService({ config }));
  }
  const map = join(await temporaryDirectory(), 'cells.map');
  writeFileSync(map, services.map(({ key }, index) => `${key.slice(0, 10)} ${cells[index]}\n`).join(''));
  const sample = readFileSync('deploy/haproxy-cells.cfg', 'utf8').replace('/etc/haproxy/cells.map', map);
  const [one, two] = services.map(({ url }) => Number(new URL(url).port));
  proxy = await ProxyProgram.start('haproxy', [one!, two!], sample);
});
afterAll(async () => {
  await proxy.stop();
  for (const service of services) await service.stop();
});

interface Submitted {
  request_id: string;
  status_url: string;
}

const headersOf = ({ key }: TestService): Record<string, string> => ({ authorization: `Key ${key}` });

async function submit(service: TestService): Promise<Submitted> {
  const call = { method: 'POST', headers: headersOf(service), body: '{"text": "hello"}' };
  const answer = await fetch(`${proxy.url}/v1/queue/demo/text/echo`, call);
  expect(answer.status).toBe(202);
  return (await answer.json()) as Submitted;
}

/** Calls the proxy in place of the host that a URL names, which no name server knows. */
async function get(url: string): Promise<{ status: number; body: unknown }> {
  const { host, pathname } = new URL(url);
  const { hostname, port } = new URL(proxy.url);
  const call = request({ hostname, port, path: pathname, headers: { host }, agent: false }).end();
  const [answer] = (await once(call, 'response')) as [IncomingMessage];
  return { status: answer.statusCode!, body: await json(answer) };
}

test.each([0, 1])('a submission goes to the cell of its key (cell %i)', async (index) => {
  const { request_id: id } = await submit(services[index]!);
  const found = await Promise.all(
    services.map((service) => service.query('SELECT FROM request WHERE id = $1', [id])),
  );
  expect(found.map((rows) => rows.length)).toEqual(index === 0 ? [1, 0] : [0, 1]);
});

test.each([0, 1])('the URLs of its answer lead to the same cell without a key (cell %i)', async (index) => {
  const { request_id, status_url } = await submit(services[index]!);
  expect(status_url).toContain(`//${cells[index]}.queue.example.org/`);
  expect(await get(status_url)).toMatchObject({ status: 200, body: { request_id } });
});
