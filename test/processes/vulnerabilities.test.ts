import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { temporaryDirectory } from '../support/data-directory.js';
import { root } from '../support/page-examples.js';

interface Checked {
  code: number;
  output: string;
}

/** Runs the check against a registry of its own. */
async function check(answer: RequestListener): Promise<Checked> {
  const registry = createServer(answer).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  try {
    return await checkAt(`http://127.0.0.1:${port}/`);
  } finally {
    registry.closeAllConnections();
    registry.close();
  }
}

async function checkAt(registry: string): Promise<Checked> {
  const child = spawn(process.execPath, [join(root, 'scripts/check-vulnerabilities.js')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      npm_config_cache: await temporaryDirectory(),
      npm_config_registry: registry,
      npm_config_fetch_retries: '0',
    },
  });
  const [exit, stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code: exit[0], output: stdout + stderr };
}

/** Answers the audit with these advisories of packages. Knows no package. */
const registryWith =
  (advisories: Record<string, object[]>, asked: string[] = []): RequestListener =>
  (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(404).end('{}');
      const body = Buffer.concat(chunks);
      const isZipped = request.headers['content-encoding'] === 'gzip';
      asked.push(...Object.keys(JSON.parse(String(isZipped ? gunzipSync(body) : body)) as object));
      response.setHeader('content-type', 'application/json').end(JSON.stringify(advisories));
    });
  };

const advisory = {
  id: 1,
  url: 'https://example.org/advisory',
  title: 'A door that is open',
  severity: 'high',
  vulnerable_versions: '<99',
  cwe: [],
  cvss: { score: 0, vectorString: null },
};

test.each(['express', 'react'])('a known vulnerability of %s fails the check, and is named', async (name) => {
  const { code, output } = await check(registryWith({ [name]: [advisory] }));
  expect([code, output]).toEqual([1, expect.stringContaining(`${name}: high: A door that is open`)]);
});

test('without a vulnerability of what is shipped the check succeeds', async () => {
  const asked: string[] = [];
  const { code, output } = await check(registryWith({ jest: [advisory] }, asked));
  expect([code, output]).toEqual([
    0,
    expect.stringMatching(/^No known vulnerability in \d+ dependencies\.\n$/),
  ]);
  expect(asked).toEqual(expect.arrayContaining(['express', 'jest', 'pg', 'react']));
});

test('a registry without audits is reported in one line and is no failure', async () => {
  const { code, output } = await check((_, response) => response.writeHead(405).end());
  expect([code, output]).toEqual([
    0,
    'Vulnerabilities were not checked, because no registry answered: its status was 405.\n',
  ]);
});

test('an unreachable registry is reported in one line and is no failure', async () => {
  const { code, output } = await checkAt('http://127.0.0.1:1/');
  expect([code, output]).toEqual([
    0,
    'Vulnerabilities were not checked, because no registry answered: ECONNREFUSED.\n',
  ]);
});

test('an audit that the registry rejects with 400 is a failure', async () => {
  const { code } = await check((_, response) => response.writeHead(400).end('{}'));
  expect(code).toBe(1);
});
