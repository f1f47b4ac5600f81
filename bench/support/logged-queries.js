import { administer } from './postgres.js';

/**
 * A database whose every query is a line of PostgreSQL's log.
 * @param {import('./bench.js').Bench} bench
 */
export async function loggedDatabase(bench) {
  const url = await bench.serviceDatabase();
  const name = new URL(url).pathname.slice(1);
  await administer(url, [`ALTER DATABASE ${name} SET log_statement = 'all'`]);
  return url;
}

/**
 * Returns the name of each prepared statement that ran, or the beginning of its text.
 * @param {string} log
 * @param {string} url of the database
 */
export function queriesIn(log, url) {
  const name = new URL(url).pathname.slice(1);
  const line = new RegExp(`^.*@${name} LOG: {2}(?:execute ([^:]+)|statement): (.{0,40})`, 'gm');
  return [...log.matchAll(line)].map(([, statement, text]) =>
    statement === undefined || statement === '<unnamed>' ? text : statement,
  );
}

/**
 * Returns how often a second each name came, the most frequent first.
 * @param {string[]} names
 * @param {number} seconds
 */
export function frequencies(names, seconds) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([name, count]) => `${name} ${(count / seconds).toFixed(2)}`)
    .join(', ');
}
