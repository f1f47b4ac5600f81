import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { keyHeader } from './built-service.js';
import { nextMessage } from './child.js';
import { cpuMsOf, residentBytesOf } from './cpu.js';
import { smallInput } from './inputs.js';
import { withClient } from './postgres.js';
import { preloadWaiting } from './preload.js';

/** The model's slots; each is free again after a second. */
export const startsPerSecond = 50;
const client = (name) => fileURLToPath(new URL(`./${name}.js`, import.meta.url));
/** The last events may still be on their way. */
const marginMs = 2_000;

/**
 * A queue from which requests start, and a client that watches all of them or none.
 * @param {import('./bench.js').Bench} bench
 * @param {object} options
 * @param {number} options.count
 * @param {number} options.seconds
 * @param {'stream-client' | 'held-client'} [options.watcher]
 * @param {string[]} [options.states] of which the client is notified
 */
export async function watchedQueue(
  bench,
  { count, seconds, watcher, states = ['IN_PROGRESS', 'COMPLETED'] },
) {
  const databaseUrl = await bench.serviceDatabase();
  await preloadWaiting(databaseUrl, 'bench/second', count + startsPerSecond, smallInput);
  // The first requests fill the slots at once, and stay there until the phase begins.
  const openGate = bench.model.holdSeconds();
  const service = await bench.service({ databaseUrl });
  await delay(3_000);
  const bytesBefore = residentBytesOf(service.pid);
  const watching = watcher && (await watch(bench, service, watcher, await waitingIds(databaseUrl)));
  await delay(3_000);
  const eachKiB = (residentBytesOf(service.pid) - bytesBefore) / count / 1024;
  const from = Date.now();
  const cpuBefore = cpuMsOf(service.pid);
  openGate();
  await delay(seconds * 1_000);
  const cores = (cpuMsOf(service.pid) - cpuBefore) / (Date.now() - from);
  const noted = await watching?.();
  const transitions = await transitionsOf(databaseUrl, from, from + seconds * 1_000 - marginMs);
  await service.stop();
  const published = transitions.filter(({ state }) => states.includes(state));
  return { cores, eachKiB, ...(noted === undefined ? {} : compare(published, noted)) };
}

async function watch(bench, service, watcher, ids) {
  const file = join(bench.directory, 'watched-ids');
  writeFileSync(file, ids.join('\n'));
  const child = fork(client(watcher), [service.url, file, keyHeader.Authorization]);
  bench.atEndOfScene(async () => void child.kill());
  await nextMessage(child);
  return async () => {
    child.send('done');
    return nextMessage(child);
  };
}

async function waitingIds(databaseUrl) {
  const { rows } = await withClient(databaseUrl, (db) =>
    db.query('SELECT request_id AS id FROM queue_entry'),
  );
  return rows.map(({ id }) => id);
}

/** Returns the database's transitions within the phase, of requests that were watched from before it. */
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
    const seenAt = seen[id]?.[state];
    if (seenAt === undefined) missed++;
    else delays.push(seenAt - atMs);
  }
  return { delays, missed, messages, broken };
}
