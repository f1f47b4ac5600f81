import { keyHeader } from '../support/built-service.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { preloadWaiting, sampleWaiting } from '../support/preload.js';
import { interleave } from '../support/rounds.js';
import { cpuRows, turnsRow } from '../support/rows.js';
import { getScript } from '../support/wrk.js';

const connections = 32;
const asked = 1_000;

export const scene = {
  number: 3,
  name: 'status',
  title: 'status, 32 connections',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const deep = bench.short ? 100_000 : 1_000_000;
    const subjects = {
      bare: await bareSelect(bench, deep),
      shallow: await statusAt(bench, 100),
      deep: await statusAt(bench, deep),
    };
    for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
    const measured = await interleave(bench.rounds, subjects);
    const { bare, shallow, deep: deepest } = measured;
    const depth = deep.toLocaleString('en');
    return [
      turnsRow('statuses/s at 100 waiting', shallow, 'bare', bare, { bar: { least: 1.5 } }),
      turnsRow(`statuses/s at ${depth} waiting`, deepest, 'bare', bare, { bar: { least: 1.5 } }),
      turnsRow('statuses/s at 100 waiting', shallow, `at ${depth}`, deepest, { bar: { most: 1.3 } }),
      ...cpuRows('status', shallow, bare, 'bare'),
      turnsRow('p99 ms at 100 waiting', shallow, 'bare', bare, { field: 'p99' }),
    ];
  },
};

/**
 * A service with `depth` requests waiting for a model at its limit.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} depth
 */
export async function statusAt(bench, depth, databaseUrl) {
  const url = databaseUrl ?? (await bench.serviceDatabase());
  // The first request of the queue runs.
  await preloadWaiting(url, 'bench/held', depth + 1, smallInput);
  const ids = await sampleWaiting(url, asked);
  const service = await bench.service({ databaseUrl: url });
  const paths = ids.map((id) => `/v1/queue/requests/${id}/status`);
  return load(bench, service, getScript(paths, keyHeader));
}

async function bareSelect(bench, count) {
  const databaseUrl = await bench.emptyDatabase();
  const bare = await bench.peer('bare.js', { DATABASE_URL: databaseUrl });
  const ids = await insertBare(databaseUrl, count, asked);
  return load(bench, bare, getScript(ids.map((id) => `/status/${id}`)));
}

/** Puts `count` requests into the table of the bare floor, and returns `ids` of their ids. */
export async function insertBare(databaseUrl, count, ids) {
  return withClient(databaseUrl, async (client) => {
    await client.query(
      `INSERT INTO bare_request (id, model_id, input)
       SELECT gen_random_uuid(), 'bench/held', $2::json FROM generate_series(1, $1::integer)`,
      [count, smallInput],
    );
    await client.query('VACUUM (ANALYZE) bare_request');
    const { rows } = await client.query('SELECT id FROM bare_request LIMIT $1', [ids]);
    return rows.map(({ id }) => id);
  });
}

function load(bench, subject, script) {
  return (seconds) => bench.load(subject, script, { connections, seconds });
}
