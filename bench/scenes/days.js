import { keyHeader } from '../support/built-service.js';
import { preloadHistory } from '../support/history.js';
import { smallInput } from '../support/inputs.js';
import { withClient } from '../support/postgres.js';
import { preloadWaiting, sampleWaiting } from '../support/preload.js';
import { interleave } from '../support/rounds.js';
import { ratioRow, shown, turnsRow } from '../support/rows.js';
import { serviceStatements } from '../support/service-statements.js';
import { getScript } from '../support/wrk.js';

const connections = 200;
const waiting = 1_000;
const perDay = 10;

export const scene = {
  number: 37,
  name: 'days',
  title: '365 days of history beside 20, 200 polls at once',
  short: true,

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const [few, many] = [await withDays(bench, 20), await withDays(bench, 365)];
    const subjects = { few: few.waiting, many: many.waiting, fewOld: few.old, manyOld: many.old };
    for (const warmUp of Object.values(subjects)) await warmUp(bench.warmUpSeconds);
    const measured = await interleave(bench.rounds, subjects);
    const p99 = { field: 'p99' };
    return [
      ratioRow('locks of a status, 365 days', many.locks, '20 days', few.locks, { most: 1.5 }),
      turnsRow('p99 ms of a status, 365 days', measured.many, '20 days', measured.few, {
        ...p99,
        bar: { most: 1.3, tail: true },
      }),
      turnsRow('statuses/s, 365 days', measured.many, '20 days', measured.few, { bar: { least: 0.8 } }),
      shown(turnsRow('p99 ms, requests of all days, 365', measured.manyOld, '20 days', measured.fewOld, p99)),
    ];
  },
};

/**
 * A service with a history of so many days. `waiting` polls requests of today, `old` those of all days.
 * @param {import('../support/bench.js').Bench} bench
 * @param {number} days
 */
async function withDays(bench, days) {
  const databaseUrl = await bench.serviceDatabase();
  await preloadHistory(databaseUrl, days * perDay, days);
  // The first request of the queue runs.
  await preloadWaiting(databaseUrl, 'bench/held', waiting + 1, smallInput);
  const ids = await sampleWaiting(databaseUrl, waiting);
  const locks = await locksOfStatus(bench, databaseUrl, ids[0]);
  const service = await bench.service({ databaseUrl, env: { RETENTION: '400d' } });
  const polls = (asked) => {
    const script = getScript(
      asked.map((id) => `/v1/queue/requests/${id}/status`),
      keyHeader,
    );
    return (seconds) => bench.load(service, script, { connections, seconds });
  };
  return { locks, waiting: polls(ids), old: polls(await completedOf(databaseUrl)) };
}

const completedOf = (databaseUrl) =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(`SELECT id FROM request WHERE state = 'COMPLETED' ORDER BY random()`);
    return rows.map(({ id }) => id);
  });

/** Counts the locks at the end of the second status on a connection, when its plan is kept. */
async function locksOfStatus(bench, databaseUrl, id) {
  const { database } = await serviceStatements(bench, databaseUrl);
  const { readStatus } = await bench.built.load('queue/reads/queries/read-status.js');
  const statusAndLocks = () =>
    database.transaction(async (query) => {
      await readStatus({ query }, [id]);
      const text = `SELECT count(*) AS count FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'`;
      return (await query({ name: '', text }))[0].count;
    });
  await statusAndLocks();
  return statusAndLocks();
}
