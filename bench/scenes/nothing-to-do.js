import { setTimeout as delay } from 'node:timers/promises';
import { withClient } from '../support/postgres.js';
import { plainRow } from '../support/rows.js';

/** Until what follows a start has calmed down. */
const settleSeconds = 15;

export const scene = {
  number: 12,
  name: 'nothing-to-do',
  title: 'queries a second of a process with nothing to do',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const alone = await bench.serviceDatabase();
    await bench.service({ databaseUrl: alone });
    const shared = await bench.serviceDatabase();
    const roles = ['api', 'scheduler', 'all'];
    for (const role of roles) await bench.service({ databaseUrl: shared, role });
    await delay(settleSeconds * 1_000);
    const seconds = bench.short ? 30 : 120;
    const before = [await transactions(alone), await transactions(shared)];
    await delay(seconds * 1_000);
    const after = [await transactions(alone), await transactions(shared)];
    // Reading the figure is a transaction too.
    const [one, three] = after.map((count, i) => (count - before[i] - 1) / seconds);
    return [
      plainRow('transactions/s, one process', one, { most: 1 }),
      plainRow('transactions/s a process, api + scheduler + all', three / roles.length, { most: 1 }),
    ];
  },
};

/** An idle process runs no transaction of several queries often enough to matter. */
async function transactions(databaseUrl) {
  return withClient(databaseUrl, async (client) => {
    const { rows } = await client.query(
      'SELECT xact_commit + xact_rollback AS count FROM pg_stat_database WHERE datname = current_database()',
    );
    return Number(rows[0].count);
  });
}
