import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keyHeader } from '../support/built-service.js';
import { cpuMsOf, residentBytesOf } from '../support/cpu.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { preloadWaiting } from '../support/preload.js';
import { plainRow, promiseRow } from '../support/rows.js';
import { percentile } from '../support/stats.js';

/** The model's slots; each is free again after a second. */
const startsPerSecond = 50;
const client = fileURLToPath(new URL('../support/stream-client.js', import.meta.url));
/** What happens last may still be on its way. */
const marginMs = 2_000;

export const scene = {
  number: 10,
  name: 'streams',
  title: `open streams, ${startsPerSecond} requests/s start`,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const count = bench.short ? 1_000 : 10_000;
    const seconds = bench.short ? 10 : 60;
    const without = await phase(bench, { count, seconds, streams: false });
    const withStreams = await phase(bench, { count, seconds, streams: true });
    const { delays, missed, broken, messages, perStreamKiB } = withStreams;
    return [
      promiseRow(
        `every transition sent to ${count.toLocaleString('en')} streams`,
        missed + broken === 0,
        `${delays.length} sent, ${missed} missed, ${broken} broken`,
      ),
      plainRow('p99 ms from commit to client', percentile(delays, 99), { most: 250 }),
      plainRow('KiB of memory a stream', perStreamKiB, { most: 40 }),
      plainRow('cores for positions and transitions', withStreams.cores - without.cores, { most: 0.25 }),
      plainRow('cores in all', withStreams.cores),
      plainRow('messages/s', messages / seconds),
    ];
  },
};

async function phase(bench, { count, seconds, streams }) {
  const databaseUrl = await bench.serviceDatabase();
  await preloadWaiting(databaseUrl, 'bench/second', count + startsPerSecond, smallInput);
  // The first fill the slots at once and stay there until the phase begins.
  const openGate = bench.model.holdSeconds();
  const service = await bench.service({ databaseUrl });
  await delay(3_000);
  const bytesBefore = residentBytesOf(service.pid);
  const watcher = streams ? await watch(bench, service, await waitingIds(databaseUrl)) : undefined;
  await delay(3_000);
  const perStreamKiB = (residentBytesOf(service.pid) - bytesBefore) / count / 1024;
  const from = Date.now();
  const cpuBefore = cpuMsOf(service.pid);
  openGate();
  await delay(seconds * 1_000);
  const cores = (cpuMsOf(service.pid) - cpuBefore) / (Date.now() - from);
  const noted = await watcher?.();
  const transitions = await transitionsOf(databaseUrl, from, from + seconds * 1_000 - marginMs);
  await service.stop();
  return { cores, perStreamKiB, ...(noted === undefined ? {} : compare(transitions, noted)) };
}

async function watch(bench, service, ids) {
  const file = join(bench.directory, 'stream-ids');
  writeFileSync(file, ids.join('\n'));
  const child = fork(client, [service.url, file, keyHeader.Authorization]);
  bench.atEndOfScene(async () => void child.kill());
  await once(child, 'message');
  return async () => {
    child.send('done');
    const [noted] = await once(child, 'message');
    return noted;
  };
}

async function waitingIds(databaseUrl) {
  const { rows } = await withClient(databaseUrl, (db) =>
    db.query('SELECT request_id AS id FROM queue_entry'),
  );
  return rows.map(({ id }) => id);
}

/** What happened in the phase to requests that were watched from before it, as the database tells it. */
async function transitionsOf(databaseUrl, fromMs, toMs) {
  const { rows } = await withClient(databaseUrl, (db) =>
    db.query(
      `SELECT id, state, extract(epoch FROM at)::float8 * 1000 AS "atMs"
       FROM (
         SELECT id, 'IN_PROGRESS' AS state, started_at AS at FROM request
         UNION ALL
         SELECT id, 'COMPLETED', completed_at FROM request WHERE started_at > to_timestamp($1::float8 / 1000)
       ) AS transition
       WHERE at > to_timestamp($1::float8 / 1000) AND at < to_timestamp($2::float8 / 1000)`,
      [fromMs, toMs],
    ),
  );
  return rows;
}

function compare(transitions, { seen, messages, broken }) {
  const delays = [];
  let missed = 0;
  for (const { id, state, atMs } of transitions) {
    const toldAt = seen[id]?.[state];
    if (toldAt === undefined) missed++;
    else delays.push(toldAt - atMs);
  }
  return { delays, missed, messages, broken };
}
