import { setTimeout as delay } from 'node:timers/promises';
import { frequencies, loggedDatabase, queriesIn } from '../support/logged-queries.js';
import { missingRow, plainRow } from '../support/rows.js';

/** Long enough for the work after a start to end. */
const settleSeconds = 35;

export const scene = {
  number: 12,
  name: 'nothing-to-do',
  title: 'a process with nothing to do',

  /** @param {import('../support/bench.js').Bench} bench */
  async run(bench) {
    const alone = await loggedDatabase(bench);
    await bench.service({ databaseUrl: alone });
    const shared = await loggedDatabase(bench);
    const roles = ['api', 'scheduler', 'all'];
    for (const role of roles) await bench.service({ databaseUrl: shared, role });
    await delay(settleSeconds * 1_000);
    const from = bench.postgres.logSize();
    const seconds = bench.short ? 30 : 120;
    await delay(seconds * 1_000);
    const [one, three] = [alone, shared].map((url) => queriesIn(bench.postgres.logSince(from), url));
    return [
      plainRow('queries/s, one process', one.length / seconds, { most: 1 }),
      plainRow('queries/s, each of api, scheduler, all', three.length / seconds / roles.length, {
        most: 1,
      }),
      missingRow('which, one process', frequencies(one, seconds)),
    ];
  },
};
