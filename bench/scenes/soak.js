import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { plainRow } from '../support/rows.js';
import { submitOne } from '../support/submit-many.js';

const processes = 3;
const perSecond = 300;
const tickMs = 10;
const sampleEveryMs = 15_000;
const probe = new URL('../support/heap-probe.js', import.meta.url).href;
/** The highest value of the last third against the highest of the first, so that a sawtooth counts as flat. */
const flat = { most: 1.2 };

/** Tables that must not grow with the number of completed requests; history itself does. */
const narrow = [
  'queue_entry',
  'delayed_entry',
  'lease',
  'node',
  'slot_grant',
  'limit_share',
  'limit_holder',
  'limit_ask',
  'idempotency_key',
  'api_key',
];

export const scene = {
  number: 14,
  name: 'soak',
  title: `${perSecond} requests/s for 30 min, ${processes} processes`,
  long: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const minutes = bench.short ? 3 : 30;
    const databaseUrl = await bench.serviceDatabase();
    const services = [];
    for (let i = 0; i < processes; i++) services.push(await probedService(bench, databaseUrl, i));
    const samples = [];
    const deadline = performance.now() + minutes * 60_000;
    const load = submitEvenly(services, deadline);
    while (performance.now() < deadline - sampleEveryMs) {
      await delay(sampleEveryMs);
      samples.push({ ...(await sampleTables(databaseUrl)), heapMiB: heapMiB(services) });
    }
    const { sent, failed } = await load;
    const late = samples.slice(Math.floor(samples.length / 3));
    const growth = (field) => {
      const third = Math.floor(late.length / 3);
      const highest = (part) => Math.max(...part.map((sample) => sample[field]));
      return highest(late.slice(-third)) / highest(late.slice(0, third));
    };
    return [
      plainRow('requests/s', sent / minutes / 60),
      plainRow('failed submissions', failed, { most: 0 }),
      plainRow('growth of dead tuples', growth('dead'), flat),
      plainRow('growth of the narrow tables', growth('tables'), flat),
      plainRow('growth of their indexes', growth('indexes'), flat),
      plainRow('growth of the heaps', growth('heapMiB'), flat),
      plainRow('KiB of the narrow tables, at the end', samples.at(-1).tables / 1024),
      plainRow('KiB of their indexes, at the end', samples.at(-1).indexes / 1024),
      plainRow('MiB of heap a process, at the end', samples.at(-1).heapMiB / processes),
    ];
  },
};

async function probedService(bench, databaseUrl, i) {
  const heapFile = join(bench.directory, `heap-${i}`);
  const service = await bench.service({
    databaseUrl,
    nodeArgs: ['--expose-gc', '--import', probe],
    env: { BENCH_HEAP_FILE: heapFile },
  });
  return { url: service.url, heapFile, agent: new Agent({ keepAlive: true }) };
}

async function submitEvenly(services, deadline) {
  const started = performance.now();
  let sent = 0;
  let failed = 0;
  while (performance.now() < deadline) {
    const due = Math.floor(((performance.now() - started) * perSecond) / 1_000);
    for (; sent < due; sent++) {
      const { url, agent } = services[sent % services.length];
      submitOne({ url: `${url}/v1/queue/bench/noop`, agent, headers: keyHeader, body: smallInput }).catch(
        () => failed++,
      );
    }
    await delay(tickMs);
  }
  return { sent, failed };
}

async function sampleTables(databaseUrl) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      `SELECT (SELECT sum(n_dead_tup) FROM pg_stat_user_tables)::float8 AS dead,
              sum(pg_table_size(name::regclass))::float8 AS tables,
              sum(pg_indexes_size(name::regclass))::float8 AS indexes
       FROM unnest($1::text[]) AS name`,
      [narrow],
    );
    return rows[0];
  });
}

function heapMiB(services) {
  return services.reduce((sum, { heapFile }) => sum + Number(readFileSync(heapFile, 'utf8')) / 1024 ** 2, 0);
}
