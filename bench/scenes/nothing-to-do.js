import { setTimeout as delay } from 'node:timers/promises';
import { administer } from '../support/postgres.js';
import { missingRow, plainRow } from '../support/rows.js';

/** Until what follows a start has calmed down. */
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

/** A database whose every query is a line of PostgreSQL's log. */
async function loggedDatabase(bench) {
  const url = await bench.serviceDatabase();
  const name = new URL(url).pathname.slice(1);
  await administer(url, [`ALTER DATABASE ${name} SET log_statement = 'all'`]);
  return url;
}

/** The name of each prepared statement that ran, or how its text begins. */
function queriesIn(log, url) {
  const name = new URL(url).pathname.slice(1);
  const line = new RegExp(`^.*@${name} LOG: {2}(?:execute ([^:]+)|statement): (.{0,40})`, 'gm');
  return [...log.matchAll(line)].map(([, statement, text]) =>
    statement === undefined || statement === '<unnamed>' ? text : statement,
  );
}

function frequencies(names, seconds) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => `${name} ${(count / seconds).toFixed(2)}`)
    .join(', ');
}
