import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killAtExit } from '../support/at-exit.js';
import { attacks } from '../support/attacks.js';
import { residentBytesOf } from '../support/cpu.js';
import { withClient } from '../support/postgres.js';
import { plainRow, promiseRow, shown } from '../support/rows.js';
import { percentile } from '../support/stats.js';
import { PacedCaller } from '../support/paced-caller.js';

const mib = 1024 * 1024;
const attacker = fileURLToPath(new URL('../support/attacker.js', import.meta.url));
const keys = {
  victim: 'bench-victim-0123456789abcdef',
  key: 'bench-attacker-0123456789abcdef',
  workKey: 'bench-worker-0123456789abcdef',
};
const scopes = { victim: ['submit', 'read', 'cancel'], key: ['submit', 'read', 'cancel'], workKey: ['work'] };

export const scene = {
  number: 36,
  name: 'attacks',
  title: 'a caller beside hostile ones',

  /**
   * Two nodes with the shipped limits. A victim calls the first one, fifty times a second, while one attack after
   * another hits the same node.
   * @param {import('../support/bench.js').Bench} bench
   */
  async run(bench) {
    const seconds = bench.short ? 3 : 10;
    const names = bench.short ? Object.keys(attacks).filter((_, i) => i % 6 === 0) : Object.keys(attacks);
    const databaseUrl = await bench.serviceDatabase();
    await makeKeys(databaseUrl);
    const env = {
      DATA_DIR: join(bench.directory, 'attacks'),
      WEBHOOK_ALLOW: '127.0.0.0/8',
      TRUST_PROXY: 'true',
      LOG_LEVEL: 'warn',
    };
    const start = () => bench.service({ databaseUrl, limits: 'shipped', env });
    const [attacked] = [await start(), await start()];
    const target = await prepare(bench, attacked.url);
    const file = join(bench.directory, 'target.json');
    writeFileSync(file, JSON.stringify(target));
    const victim = new PacedCaller(attacked.url, keys.victim);

    await victim.call(3);
    const idle = await victim.call(seconds);
    const idleP99 = percentile(idle.ms, 99);
    const bar = Math.max(5 * idleP99, 250);
    const memory = residentBytesOf(attacked.pid);
    const rows = [shown(plainRow('p99 ms of the victim, idle', idleP99))];
    let failures = 0;
    let mostMiB = 0;
    for (const name of names) {
      const before = residentBytesOf(attacked.pid);
      let most = before;
      const timer = setInterval(() => (most = Math.max(most, residentBytesOf(attacked.pid))), 100);
      const child = fork(attacker, [name, String(seconds), file]);
      killAtExit(child);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      const { ms, failed } = await victim.call(seconds);
      await ended;
      clearInterval(timer);
      failures += failed.length;
      mostMiB = Math.max(mostMiB, (most - memory) / mib);
      const note = `${Math.round((most - before) / mib)} MiB more; ${failed.length} of ${ms.length} failed`;
      const shownFailures = failed.length === 0 ? '' : ` (${[...new Set(failed)].slice(0, 5).join(', ')})`;
      rows.push({
        ...plainRow(`p99 ms, ${name}`, percentile(ms, 99), { most: Math.round(bar) }),
        note: note + shownFailures,
      });
      await settled(attacked.url);
    }
    const { nodes, lost } = await withClient(databaseUrl, async (client) => {
      const counted = await client.query(
        `SELECT (SELECT count(*)::int FROM node) AS nodes,
                (SELECT count(*)::int FROM attempt WHERE outcome = 'lost') AS lost`,
      );
      return counted.rows[0];
    });
    return [
      ...rows,
      promiseRow('no call of the victim fails', failures === 0, `${failures} failed`),
      shown(plainRow('MiB of memory more, at most', mostMiB, { most: 600 })),
      promiseRow(
        'no node is given up, no run is lost',
        nodes === 2 && lost === 0,
        `${nodes} nodes, ${lost} runs lost`,
      ),
    ];
  },
};

async function makeKeys(databaseUrl) {
  await withClient(databaseUrl, async (client) => {
    for (const [name, key] of Object.entries(keys)) {
      const own = name === 'victim' ? '1000/s,60000/m' : null;
      await client.query(
        `INSERT INTO api_key (id, name, prefix, hash, scopes, rate_limit_submit, rate_limit_other)
         VALUES (gen_random_uuid(), $1, $1, $2, $3, $4, $4)`,
        [name, createHash('sha256').update(key).digest(), scopes[name], own],
      );
    }
  });
}

/** A run in progress of the victim, a large output, and requests that wait. */
async function prepare(bench, url) {
  const as = (key) => ({ Authorization: `Key ${key}`, 'Content-Type': 'application/json' });
  const submit = async (key, path, input) => {
    for (;;) {
      const body = JSON.stringify(input);
      const answer = await fetch(new URL(path, url), { method: 'POST', headers: as(key), body });
      if (answer.status === 202) return (await answer.json()).request_id;
      if (answer.status !== 403) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      await answer.arrayBuffer();
      await delay(1_000);
    }
  };
  await submit(keys.victim, '/v1/queue/bench/held', { prompt: 'a' });
  const largeId = await submit(keys.key, '/v1/queue/bench/echo', { text: 'x'.repeat(10 * mib - 100) });
  const requests = Array.from({ length: 1_000 }, () => ({
    model_id: 'bench/held',
    input: { prompt: 'a' },
  }));
  const ids = [];
  while (ids.length < 1_000) {
    const answer = await fetch(new URL('/v1/queue/requests', url), {
      method: 'POST',
      headers: as(keys.key),
      body: JSON.stringify({ requests: requests.slice(ids.length) }),
    });
    const { results = [] } = await answer.json();
    ids.push(...results.flatMap(({ request_id: id }) => id ?? []));
    if (ids.length < 1_000) await delay(1_000);
    // Under limits that admit few, the submitted ones must suffice.
    if (ids.length >= 50) break;
  }
  while (ids.length < 1_000) ids.push(ids[0]);
  return { url, key: keys.key, workKey: keys.workKey, largeId, ids, hangingPort: await hanging(bench) };
}

async function hanging(bench) {
  const sockets = new Set();
  const server = createServer((socket) => sockets.add(socket.on('error', () => undefined)));
  await new Promise((done) => server.listen(0, '0.0.0.0', done));
  bench.atEndOfScene(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((done) => server.close(done));
  });
  return server.address().port;
}

/** Waits until the effects of an attack are over, so that they do not count for the next one. */
async function settled(url) {
  for (let i = 0; i < 40; i++) {
    const started = performance.now();
    const answer = await fetch(new URL('/health/ready', url)).catch(() => undefined);
    if (answer?.ok && performance.now() - started < 50 && i >= 4) return;
    await delay(250);
  }
}
